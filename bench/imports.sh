#!/usr/bin/env bash
# Measures missing imports that are found without a model: imports are taken out of real
# trees one at a time and asked for, and the real diagnostics of the fixes' suite are given
# to what needs no model. bench/imports.md has the results.
#
#   bench/imports.sh [flags of `quarry-eval imports`]
#
# FIXES_TREES is where the trees are kept, FIXES_TOOLS where the checkers are, both in
# quarry's cache by default.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache="${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}"
trees="${FIXES_TREES:-$cache/holes}" tools="${FIXES_TOOLS:-$cache/checkers}"
testdata/fixes/fetch.sh "$trees" "$tools"
bin/quarry-eval imports --corpus "$trees" "$@"
bin/quarry-eval fixes --corpus "$trees" --tools "$tools" --script silent
bin/quarry-eval fixes --corpus "$trees" --tools "$tools" --script imports
