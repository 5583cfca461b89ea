#!/usr/bin/env bash
# Measures ghost text of a real model on holes as typing has them, beside plain
# fill-in-the-middle: fetches trees and weights once, serves the model with llama.cpp
# built for this processor, and writes every answer into bench/ghost, so that a run
# that breaks off goes on where it was. Nothing else may run meanwhile.
#
#   bench/ghost.sh SIZE [flags of `quarry-eval ghost`]
#
# SIZE is 0.5b or 1.5b. GHOST_SERVER=ollama serves it with Ollama instead, with the
# kernels that a released one has, which is slower. GHOST_TREES is where the trees
# are kept, quarry's cache by default; CODER_THREADS how many threads the model has,
# all processors by default. With GHOST_MINUTES it stops after so long and reports on
# what is answered by then: every 16th hole of each kind of cursor is asked first, then
# every 8th, and so on, each time with those before, so that what is left out is left
# out by chance.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

size="${1:?0.5b or 1.5b}"
shift
trees="${GHOST_TREES:-${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}/holes}"
testdata/holes/fetch.sh "$trees"
MODEL_SERVER="${GHOST_SERVER:-llamacpp}"
# shellcheck source=bench/serve.sh
source bench/serve.sh
serve "$size" bench/ghost/server.log
ask() { "${limit[@]}" bin/quarry-eval ghost --corpus "$trees" --answers "bench/ghost/answers-$size.jsonl" "$@"; }
limit=()
if [[ -z "${GHOST_MINUTES:-}" ]]; then
	ask "$@"
	exit
fi
# The gate is for the report: what the first rounds leave open must not end the run.
rounds=()
for flag in "$@"; do
	[[ "$flag" == --gate ]] || rounds+=("$flag")
done
deadline=$((SECONDS + 60 * GHOST_MINUTES))
for every in 16 8 4 2 1; do
	((SECONDS < deadline)) || break
	limit=(timeout --preserve-status "$((deadline - SECONDS))")
	ask "${rounds[@]}" --every "$every" >/dev/null || break
done
limit=()
ask "$@" --missing "$settings/missing"
