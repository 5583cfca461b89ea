#!/usr/bin/env bash
# Fetches the checkouts of repositories.json into DIR, one folder each at its commit:
# `quarry-eval newcomer` asks its questions there. A checkout that is there already is
# left alone, so a fetch that broke off goes on.
#
#   testdata/newcomer/fetch.sh DIR
#
# Needs git and python3. Where NEWCOMER_MIRROR names a folder, a repository that it
# holds (OWNER+REPOSITORY/repo, a git folder) is taken from there, and the checkout goes
# on using that folder's objects. A mirror may lack the largest files; they are named.
set -euo pipefail

dir="${1:?the folder to fetch the checkouts into}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
mkdir -p "$dir"
dir="$(cd "$dir" && pwd)"
work="$(mktemp -d "$dir/.fetch.XXXXXX")"
trap 'rm -rf "$work"' EXIT

from_github() { # OWNER/REPOSITORY COMMIT TREE
	git -C "$3" fetch -q --depth 1 "https://github.com/$1" "$2"
	git -C "$3" -c advice.detachedHead=false checkout -q "$2"
}

from_mirror() { # GIT-FOLDER COMMIT TREE
	echo "$1/objects" >"$3/.git/objects/info/alternates"
	git -C "$3" update-ref --no-deref HEAD "$2"
	git -C "$3" read-tree "$2"
	git -C "$3" ls-tree -r --format='%(objectname)' "$2" |
		git -C "$3" cat-file --batch-check |
		sed -n 's/ missing$//p' |
		while read -r blob; do
			git -C "$3" ls-tree -r --format='%(objectname) %(path)' "$2" | sed -n "s/^$blob //p"
		done |
		while IFS= read -r file; do
			echo "fetch.sh: the mirror lacks $file" >&2
			git -C "$3" update-index --force-remove -- "$file"
		done
	git -C "$3" checkout-index -q -a
}

python3 - "$here/repositories.json" <<'PY' |
import json, sys
for r in json.load(open(sys.argv[1])):
    print(r["name"], r["github"], r["commit"])
PY
	while read -r name github commit; do
		if [[ "$(git -C "$dir/$name" rev-parse -q --verify HEAD 2>/dev/null)" == "$commit" ]]; then
			continue
		fi
		echo "fetch.sh: $name" >&2
		rm -rf "${work:?}/tree"
		git -c init.defaultBranch=main init -q "$work/tree"
		git -C "$work/tree" config core.autocrlf false
		mirror="${NEWCOMER_MIRROR:-}/${github/\//+}/repo"
		if [[ -n "${NEWCOMER_MIRROR:-}" && -d "$mirror" ]]; then
			from_mirror "$(cd "$mirror" && pwd)" "$commit" "$work/tree"
		else
			from_github "$github" "$commit" "$work/tree"
		fi </dev/null
		rm -rf "${dir:?}/$name"
		mv "$work/tree" "$dir/$name" # a fetch that is killed leaves no half checkout
	done
