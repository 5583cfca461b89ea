#!/usr/bin/env bash
# Two revisions of quarry beside each other: bench/house.sh OLD NEW ROUNDS DIR...
# For each folder it makes a first index by each in turn, and prints the least
# processor time (user and system, in seconds), the size of the state folder in MB,
# and the ratios of new to old.
set -euo pipefail
old=$1 new=$2 rounds=$3
shift 3
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"; git worktree prune' EXIT
for rev in "$old" "$new"; do
	[ -e "$work/$rev" ] && continue
	git worktree add -q --detach "$work/src-$rev" "$rev"
	(cd "$work/src-$rev" && go build -trimpath -tags sqlite_fts5 -o "$work/$rev" ./cmd/quarry)
done
TIMEFORMAT='%U %S'
echo "| folder | $old, CPU s | $new, CPU s | ratio | $old, MB | $new, MB | ratio |"
echo "|---|---|---|---|---|---|---|"
for dir in "$@"; do
	: >"$work/times"
	for ((i = 0; i < rounds; i++)); do
		for rev in "$old" "$new"; do
			rm -rf "$work/state"
			took=$({ time "$work/$rev" index --workspace "$dir" --state-dir "$work/state" >/dev/null 2>&1; } 2>&1)
			echo "$rev $took $(du -sk "$work/state" | cut -f1)" >>"$work/times"
		done
	done
	awk -v old="$old" -v new="$new" -v dir="$(basename "$dir")" '
		{ t = $2 + $3; if (!($1 in least) || t < least[$1]) least[$1] = t; size[$1] = $4 / 1024 }
		END { printf "| %s | %.2f | %.2f | %.2f | %.1f | %.1f | %.2f |\n", dir, least[old], least[new], least[new] / least[old], size[old], size[new], size[new] / size[old] }' "$work/times"
done
