#!/usr/bin/env bash
# Runs the tests many times, to find those that pass by luck: in another order each
# time, on one, two and eight processors, with the machine at rest or under a load.
# bench/tests.md has what came of it.
#
#   bench/tests.sh                        20 rounds of everything with the race detector
#   bench/tests.sh --rounds 3 ./index     3 rounds of one package
#   bench/tests.sh --load 30              with 30 busy processes beside
#
#   --rounds N     how often each package is run on each number of processors (20)
#   --procs LIST   numbers of processors, with commas between ("1,2,8")
#   --load N       busy processes beside the tests (0)
#   --no-race      without the race detector
#   --run REGEXP   these tests only
#   --dir DIR      where the binaries, the results and the logs of failed runs go (a new
#                  folder); in that of a run before, that run goes on with its binaries
#
# Each package is built once. The table is printed at the end, or as far as it got
# when the script is interrupted. It fails if a run failed.
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=20 procs=1,2,8 load=0 race=-race run=. dir=
packages=()
while (($#)); do
	case "$1" in
	--rounds) rounds=$2 && shift ;;
	--procs) procs=$2 && shift ;;
	--load) load=$2 && shift ;;
	--no-race) race= ;;
	--run) run=$2 && shift ;;
	--dir) dir=$2 && shift ;;
	-*) sed -n '2,/^set/{s/^# \{0,1\}//p}' "$0" && exit 2 ;;
	*) packages+=("$1") ;;
	esac
	shift
done
((${#packages[@]})) || packages=(./...)
dir=${dir:-$(mktemp -d)}
mkdir -p "$dir"
results=$dir/results.tsv # package, processors, exit status, seconds, tests skipped, load average
touch "$results"

tags=sqlite_fts5
goroot=$(go env GOROOT) # of which a binary built with -trimpath knows nothing
# Editors have a target of their own: they are installed first.
list=() # import path and folder
while read -r item; do
	list+=("$item")
done < <(go list -tags $tags -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' "${packages[@]}" | grep -v /editors/)
binary() { echo "$dir/${1//\//_}.test"; }
for item in "${list[@]}"; do
	[[ -x $(binary "${item%% *}") ]] && continue
	echo "build ${item%% *}" >&2
	# shellcheck disable=SC2086 # the flag may be missing
	go test -trimpath $race -tags $tags -c -o "$(binary "${item%% *}")" "${item%% *}"
done

children=()
finish() {
	((${#children[@]} == 0)) || kill "${children[@]}" 2>/dev/null || true
	echo
	local sorted
	sorted=$(cut -f6 "$results" | sort -n)
	echo "$(date -u +%F), $(getconf _NPROCESSORS_ONLN) processors, load average ${sorted%%$'\n'*} to ${sorted##*$'\n'}, $load busy processes, ${race:-without -race}"
	echo
	echo "| package | processors | runs | failed | tests skipped | seconds, middle | longest |"
	echo "|---|---|---|---|---|---|---|"
	sort -t$'\t' -k1,1 -k2,2n -k4,4n "$results" | awk -F'\t' '
		function row() { if (n) printf "| %s | %s | %d | %d | %d | %d | %d |\n", package, procs, n, failed, skipped, seconds[int((n+1)/2)], seconds[n] }
		$1 != package || $2 != procs { row(); package = $1; procs = $2; n = failed = skipped = 0 }
		{ seconds[++n] = $4; failed += $3 != 0; if ($5 > skipped) skipped = $5 }
		END { row() }'
	echo
	grep -hE -- '^ *--- FAIL|^-test.shuffle|^panic:|WARNING: DATA RACE|^FAIL' "$dir"/*.failed 2>/dev/null | sort | uniq -c || echo "no run failed"
	if awk -F'\t' '$3 != 0 { exit 1 }' "$results"; then exit 0; fi
	echo "the logs of failed runs are in $dir" >&2
	exit 1
}
trap finish EXIT
trap 'exit 130' INT TERM

for ((i = 0; i < load; i++)); do
	(while :; do :; done) &
	children+=($!)
done

for ((round = 1; round <= rounds; round++)); do
	for item in "${list[@]}"; do
		package=${item%% *}
		for p in ${procs//,/ }; do
			begin=$(date +%s) status=0
			log=$dir/${package//\//_}-$p-$begin.log
			(cd "${item#* }" && exec env CI= GOROOT="$goroot" GOMAXPROCS="$p" "$(binary "$package")" -test.run "$run" -test.v -test.shuffle=on -test.timeout=60m) >"$log" 2>&1 || status=$?
			printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$package" "$p" "$status" "$(($(date +%s) - begin))" "$(grep -c -- '--- SKIP' "$log" || true)" \
				"$(uptime | sed 's/.*load average[s]*: *//; s/[, ].*//')" >>"$results"
			if ((status)); then
				mv "$log" "${log%.log}.failed"
				echo "round $round: $package fails on $p processors: ${log%.log}.failed" >&2
			else
				rm "$log"
			fi
		done
	done
done
