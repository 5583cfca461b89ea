#!/usr/bin/env bash
# Breaks the code on purpose, one place at a time, and says which test notices:
# bench/mutants.sh [ID...]. The tree is not touched: the compiler is given the broken file
# in place of the one that is there (-overlay). The mutants are in bench/mutants.txt; those called W
# are made here, one for each weight that searches are ranked by. Fails if one survives.
set -uo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

weights() {
	grep -nE '^[[:space:]]+sig[A-Z][A-Za-z]*: +[0-9.]+,$' retrieval/weights.go |
		while IFS=: read -r line name _; do
			name=$(tr -d '[:space:]' <<<"$name")
			printf 'W%s\tretrieval/weights.go\t%ss/[0-9.]+,$/0,/\t./retrieval -run=TestEveryWeightCounts\t%s is 0\n' "$line" "$line" "$name"
		done
}

echo "| mutant | what is broken | tests that fail |"
echo "|---|---|---|"
alive=0
while IFS=$'\t' read -r id file expression package what; do
	[[ -z $id || $id == \#* ]] && continue
	if (($#)) && [[ " $* " != *" $id "* ]]; then continue; fi
	sed -E "$expression" "$file" >"$work/mutant.go"
	if cmp -s "$file" "$work/mutant.go"; then
		echo "| $id | $what | **the expression changes nothing in $file** |"
		alive=1
		continue
	fi
	printf '{"Replace": {"%s": "%s"}}' "$PWD/$file" "$work/mutant.go" >"$work/overlay.json"
	if RAPID_NOFAILFILE=true go test -vet=off -trimpath -tags sqlite_fts5 -overlay "$work/overlay.json" $package >"$work/log" 2>&1; then
		echo "| $id | $what | **none** |"
		alive=1
	elif grep -qE '^--- FAIL|^panic: ' "$work/log"; then
		echo "| $id | $what | $(sed -nE 's/^--- FAIL: ([A-Za-z0-9_]+).*/`\1`/p' "$work/log" | paste -sd, | sed 's/,/, /g') |"
	else
		echo "| $id | $what | **not built: $(grep -m1 -E '\.go:[0-9]+' "$work/log")** |"
		alive=1
	fi
done < <(cat bench/mutants.txt; weights)
exit $alive
