#!/usr/bin/env bash
# Runs all that bench/completion.md asks of real models, what tells the most first. Each
# answer is kept, so that a run that breaks off goes on where it was; with GHOST_MINUTES it
# stops after so long, and what it has by then is reported by the commands below.
#
#   bench/ghost-rounds.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache="${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}"
testdata/holes/versions.sh "$cache/versions"
last=(--before "$cache/versions/old" --after "$cache/versions/new")
began=$SECONDS
round() {
	local left=()
	if [[ -n "${GHOST_MINUTES:-}" ]]; then
		local minutes=$((GHOST_MINUTES - (SECONDS - began) / 60))
		((minutes > 0)) || return 0
		left=(env GHOST_MINUTES="$minutes")
	fi
	echo "ghost-rounds.sh: $*"
	"${left[@]}" bench/ghost.sh "$@" 2>>bench/ghost/rounds.log || {
		tail -n 20 bench/ghost/rounds.log >&2
		return 1
	}
}
# 1. Ours beside plain FIM on what is held out: the targets.
round 1.5b --half held
# 2. The last edits, in the changes of real diffs.
round 1.5b "${last[@]}" --no-edits --beside
# 3. What stands in the prompt, on the half to fit on, each choice beside the usual prompt.
for choice in "--form none" "--form family" --healing --no-outline --no-imports --no-head --no-header; do
	round 1.5b --half fit $choice --beside # the words of choice are apart
done
# 4. Ours beside plain FIM on the half to fit on, whose usual answers are there by now.
round 1.5b --half fit
# 5. A part with the smaller model.
round 0.5b --half held --every 4
