#!/usr/bin/env bash
# Fetches the source of repositories.json into DIR, one folder each at its commit:
# `quarry-eval lexicon` and `quarry-eval idioms` learn from it. A folder that is there already is left alone.
#
#   testdata/learned/fetch.sh DIR
#
# Needs git and python3. Where QUARRY_MIRROR names a folder, a repository that it holds
# (OWNER+REPOSITORY/repo, a git folder) is taken from there.
set -euo pipefail

dir="${1:?the folder to fetch the source into}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
mkdir -p "$dir"
work="$(mktemp -d "$dir/.fetch.XXXXXX")"
trap 'rm -rf "$work"' EXIT

python3 - "$here/repositories.json" <<'PY' |
import json, sys
for r in json.load(open(sys.argv[1])):
    print(r["github"], r["commit"])
PY
	while read -r github commit; do
		name="${github/\//+}"
		if [[ -d "$dir/$name" ]]; then
			continue
		fi
		echo "fetch.sh: $github" >&2
		git="${QUARRY_MIRROR:-}/$name/repo"
		if [[ -z "${QUARRY_MIRROR:-}" || ! -d "$git" ]]; then
			git="$work/git"
			rm -rf "$git"
			git init -q --bare "$git"
			git -C "$git" fetch -q --depth 1 "https://github.com/$github" "$commit"
		fi </dev/null
		mkdir "$work/$name"
		git -C "$git" archive "$commit" </dev/null | tar -x -C "$work/$name"
		mv "$work/$name" "$dir/$name" # a fetch that is killed leaves no half of it
	done
