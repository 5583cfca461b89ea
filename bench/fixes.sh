#!/usr/bin/env bash
# Measures fixes of real diagnostics by a real model, judged by the compilers and linters
# that reported them: fetches trees, checkers and weights once, serves the model, and
# keeps every answer in bench/fixes, so that a run that breaks off goes on where it was.
# Nothing else may run meanwhile.
#
#   bench/fixes.sh SIZE [flags of `quarry-eval fixes`]
#
# SIZE is 0.5b or 1.5b. FIXES_TREES is where the trees are kept, FIXES_TOOLS where the
# checkers are, both in quarry's cache by default; MODEL_SERVER and CODER_THREADS are
# those of serve.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

size="${1:?0.5b or 1.5b}"
shift
cache="${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}"
trees="${FIXES_TREES:-$cache/holes}" tools="${FIXES_TOOLS:-$cache/checkers}"
testdata/fixes/fetch.sh "$trees" "$tools"
mkdir -p bench/fixes
# shellcheck source=bench/serve.sh
source bench/serve.sh
serve "$size" bench/fixes/server.log
bin/quarry-eval fixes --corpus "$trees" --tools "$tools" --answers "bench/fixes/answers-$size.jsonl" "$@"
