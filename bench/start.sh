#!/usr/bin/env bash
# Takes the figures of bench/start.md: about 10 minutes on 2 quiet cores, unattended.
#
#   bench/start.sh [-previous BINARY] [TREE]
#   bench/start.sh -leaving [TREE]
#   bench/start.sh -service [TREE]
#
# TREE is the source of the Go that builds quarry unless another is given. It is only read;
# the index is made in a folder that is removed again. The same is measured on 100,000
# generated files. -previous measures another quarry beside this one, which doubles the
# time. -leaving measures only how long a server takes to be gone that is told to end in the
# middle of work, in about 4 minutes, and -service only what a search costs by itself and by quarry serve, in one. ripgrep is measured where it is installed (Debian: apt-get install ripgrep).
set -euo pipefail
cd "$(dirname "$0")/.."
options=()
if [ "${1:-}" = -previous ]; then
	[ $# -ge 2 ] || { sed -n 's/^# \{0,1\}//p' "$0"; exit 2; }
	options=(-previous "$(realpath "$2")")
	shift 2
elif [ "${1:-}" = -leaving ] || [ "${1:-}" = -service ]; then
	options=("$1")
	shift
fi
tree=$(realpath "${1:-$(go env GOROOT)/src}")
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -trimpath -tags sqlite_fts5 -o "$bin/quarry" ./cmd/quarry
go build -trimpath -tags sqlite_fts5 -o "$bin/startbench" ./bench/startbench
"$bin/startbench" "${options[@]}" -quarry "$bin/quarry" "$tree"
