#!/usr/bin/env bash
# Runs the unit tests as Windows programs, made by the compiler that makes the archives and run by Wine. Needs root, for
# editors/chroot.sh, which brings Wine.
#
#   testdata/supply/windows.sh                    all packages but those of editors
#   testdata/supply/windows.sh ./lsp/text/...     these; arguments with a dash go to go test
#   testdata/supply/windows.sh try ARCHIVE.zip    what an archive does there: version, search, completion, a server
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}
prefix=$cache/wine # Windows' folders, made once
mkdir -p "$prefix"
export WINEPREFIX=$prefix WINEDEBUG=-all

# wine DIR... -- COMMAND: in the root that has Wine, each folder being there too.
within() {
	local binds=() dir
	for dir in "$prefix" "$PWD" "${TMPDIR:-/tmp}"; do binds+=(--bind "$dir"); done
	while [ "$1" != -- ]; do binds+=(--bind "$1"); shift; done
	editors/chroot.sh run --root systems "${binds[@]}" "$@"
}

if [ "${1:-}" = try ]; then
	unpacked=$(mktemp -d "${TMPDIR:-/tmp}/quarry-windows.XXXXXX")
	readonly unpacked # what is removed at the end
	trap 'rm -rf --one-file-system "$unpacked"' EXIT
	python3 -m zipfile -e "$2" "$unpacked"
	cp -r testdata/sample "$unpacked/sample"
	# What a user is about to type, at the end of a function's first line.
	sed -i "/^func (s \*Shelf) Remove(/a\\	s.mu.L" "$unpacked/sample/stock/shelf.go"
	line=$(grep -n "	s\.mu\.L\$" "$unpacked/sample/stock/shelf.go" | cut -d: -f1)
	program=$(echo "$unpacked"/*/quarry.exe)
	within -- sh -euc '
		cd "$2/sample"
		wine "$1" version
		wine "$1" complete --json "stock/shelf.go:$3:8" | grep -F "\"insert_text\": \"ock()"
		wine "$1" search --json -k 3 how does a shelf know that it is empty | grep -oF "stock/shelf.go" | head -n 1
		wine "$1" doctor | grep -i ollama | head -n 1' sh "$program" "$unpacked" "$line"
	exit
fi

zig=$(testdata/supply/zig.sh)
arguments=("$@")
if ! printf '%s\n' "$@" | grep -qv '^-'; then
	mapfile -t -O $# arguments < <(go list -tags sqlite_fts5 -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v /editors/)
fi
# The flags are those of the archives, so that what was compiled for them serves here, the library of C++ too.
export ZIG_GLOBAL_CACHE_DIR="${ZIG_GLOBAL_CACHE_DIR:-$HOME/.cache/zig}"
mkdir -p "$ZIG_GLOBAL_CACHE_DIR"
within "$(go env GOROOT)" "$(go env GOMODCACHE)" "$(go env GOCACHE)" "$(dirname "$zig")" "$ZIG_GLOBAL_CACHE_DIR" -- \
	env PATH="$(go env GOROOT)/bin:/usr/bin:/bin" GOFLAGS=-buildvcs=false GOOS=windows GOARCH=amd64 CGO_ENABLED=1 \
	CC="$zig cc -target x86_64-windows-gnu" CXX="$zig c++ -target x86_64-windows-gnu" \
	CGO_CFLAGS="-O2 -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fno-sanitize=undefined" \
	go test -trimpath -buildmode=pie -tags sqlite_fts5 -p 1 -timeout 30m -exec wine "${arguments[@]}"
