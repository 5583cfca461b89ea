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
port=11596
testdata/holes/fetch.sh "$trees"
export CODER_THREADS="${CODER_THREADS:-$(nproc)}"
case "${GHOST_SERVER:-llamacpp}" in
llamacpp)
	testdata/models/llamacpp.sh >/dev/null
	testdata/models/coder.sh "$size" file >/dev/null
	api=openai
	ready() { curl -fsS "http://127.0.0.1:$port/health" >/dev/null 2>&1; }
	start=(testdata/models/llamacpp.sh serve "$size" "$port")
	;;
ollama)
	CODER_OLLAMA="$(testdata/models/kernels.sh)"
	export CODER_OLLAMA
	api=ollama
	ready() { grep -q 'serves at' bench/ghost/server.log; }
	start=(testdata/models/coder.sh "$size" serve "$port")
	;;
*)
	echo "ghost.sh: GHOST_SERVER is llamacpp or ollama" >&2
	exit 2
	;;
esac
settings="$(mktemp -d)"
mkdir "$settings/quarry"
echo "{\"model\": \"qwen2.5-coder:$size\", \"ollama\": {\"api\": \"$api\", \"url\": \"http://127.0.0.1:$port\"}}" >"$settings/quarry/settings.json"
setsid "${start[@]}" >bench/ghost/server.log 2>&1 &
server=$!
trap 'kill -- -"$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$settings"' EXIT
until ready; do
	kill -0 "$server" || {
		tail -n 20 bench/ghost/server.log >&2
		exit 1
	}
	sleep 1
done
export XDG_CONFIG_HOME="$settings"
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
