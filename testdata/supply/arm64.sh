#!/usr/bin/env bash
# Runs the unit tests as 64-bit ARM programs, made by the compiler that makes the archives and run by qemu, on a machine that
# has another processor. Needs root, for editors/chroot.sh, which brings qemu and the C library, and patience: an
# instruction costs ten. The kernel knows qemu while this runs and in its own name space only, so that what a test starts
# runs too.
#
#   testdata/supply/arm64.sh                    all packages but those of editors
#   testdata/supply/arm64.sh ./retrieval/...    these; arguments with a dash go to go test
set -euo pipefail
cd "$(dirname "$0")/../.."

root="$(editors/chroot.sh make systems)"
zig="$(testdata/supply/zig.sh)"
arguments=("$@")
if ! printf '%s\n' "$@" | grep -qv '^-'; then
	mapfile -t -O $# arguments < <(go list -tags sqlite_fts5 -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v /editors/)
fi
# Magic and mask of a program for aarch64, as binfmt_misc wants them; F opens qemu now, wherever a program runs.
handler=':quarry-arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'$root/usr/bin/qemu-aarch64:F
# The flags are those of the archives, so that what was compiled for them serves here. A parse is given up on after so much
# time of the processor, which an emulated one takes some twelve times as much of.
# -p 1: one program at a time, since qemu's own threads want the other processors.
# shellcheck disable=SC2016 # expanded by the inner shell
exec unshare --user --map-root-user --mount bash -euc '
	mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
	printf %s "$1" >/proc/sys/fs/binfmt_misc/register
	shift
	exec "$@"' bash "$handler" \
	env QEMU_LD_PREFIX="$root/usr/aarch64-linux-gnu" GOOS=linux GOARCH=arm64 CGO_ENABLED=1 \
	CC="$zig cc -target aarch64-linux-gnu.2.31" CXX="$zig c++ -target aarch64-linux-gnu.2.31" \
	CGO_CFLAGS="-O2 -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fno-sanitize=undefined" \
	go test -trimpath -buildmode=pie -tags sqlite_fts5 -ldflags "-X quarry/index/syntax/treesitter.slowness=12" -p 1 -timeout 120m "${arguments[@]}"
