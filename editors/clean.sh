#!/usr/bin/env bash
# Runs a command and fails if it leaves a process or a mount behind.
#
#   editors/clean.sh CMD...
#
# Its processes are known by a variable in their environment, which children inherit,
# so that what else runs on the machine is not taken for theirs. What is left is ended.
set -euo pipefail
(($#)) || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "$0"; exit 2; }

mark=QUARRY_STARTED_BY=$$.$(date +%s%N)
# Mounts of this namespace; docker, snap and others come and go outside of these.
mounts() { awk '$2 ~ /quarry|^\/tmp\// { print $2 }' /proc/self/mounts | sort; }
# Prints the process ids of what has the mark.
left() { grep -slzxF -- "$mark" /proc/[0-9]*/environ | grep -oE '[0-9]+' || true; }

before=$(mounts)
status=0
env "$mark" "$@" || status=$?

for _ in {1..50}; do # what was told to end may need a moment
	pids=$(left)
	[ -n "$pids" ] || break
	sleep .1
done
if [ -n "$pids" ]; then
	echo "clean.sh: these processes were left behind:" >&2
	# shellcheck disable=SC2086 # a list
	ps -o pid,etimes,args -p ${pids//$'\n'/,} >&2 || true
	# shellcheck disable=SC2086
	kill -9 $pids 2>/dev/null || true
	status=1
fi
if ! diff <(echo "$before") <(echo "$(mounts)") >&2; then
	echo "clean.sh: these mounts were left behind (>)" >&2
	status=1
fi
exit "$status"
