#!/usr/bin/env bash
# Measures ghost text of a real model on holes as typing has them, beside plain
# fill-in-the-middle: fetches trees and weights once, serves the model with the
# kernels a released Ollama has, and writes every answer into bench/ghost, so that
# a run that breaks off goes on where it was. Nothing else may run meanwhile.
#
#   bench/ghost.sh SIZE [flags of `quarry-eval ghost`]
#
# SIZE is 0.5b or 1.5b. GHOST_TREES is where the trees are kept, quarry's cache by
# default; CODER_THREADS how many threads the model has, all processors by default.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

size="${1:?0.5b or 1.5b}"
shift
trees="${GHOST_TREES:-${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}/holes}"
port=11596
testdata/holes/fetch.sh "$trees"
CODER_OLLAMA="$(testdata/models/kernels.sh)"
export CODER_OLLAMA CODER_THREADS="${CODER_THREADS:-$(nproc)}"
setsid testdata/models/coder.sh "$size" serve "$port" >bench/ghost/server.log 2>&1 &
server=$!
trap 'kill -- -"$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT
until grep -q 'serves at' bench/ghost/server.log; do
	kill -0 "$server" || {
		tail -n 20 bench/ghost/server.log >&2
		exit 1
	}
	sleep 1
done
QUARRY_MODEL="qwen2.5-coder:$size" OLLAMA_HOST="127.0.0.1:$port" bin/quarry-eval ghost \
	--corpus "$trees" --answers "bench/ghost/answers-$size.jsonl" "$@"
