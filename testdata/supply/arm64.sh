#!/usr/bin/env bash
# Runs the unit tests as 64-bit ARM programs, made by the compiler that makes the archives
# and run by qemu, on a machine that has another processor. Needs qemu-user-static and
# libc6-arm64-cross, and patience: an instruction costs ten. Tests that start their own
# program anew also need the kernel to know qemu: install binfmt-support.
#
#   testdata/supply/arm64.sh                    all packages but those of editors
#   testdata/supply/arm64.sh ./retrieval/...    these
set -euo pipefail
cd "$(dirname "$0")/../.."
die() { echo "arm64.sh: $*" >&2; exit 1; }

qemu="$(command -v qemu-aarch64-static qemu-aarch64 | head -1)" || die "qemu is missing: install qemu-user-static"
libc=/usr/aarch64-linux-gnu
[[ -e $libc/lib/ld-linux-aarch64.so.1 ]] || die "the C library for ARM is missing: install libc6-arm64-cross"
zig="$(testdata/supply/zig.sh)"

packages=("$@")
if ((${#packages[@]} == 0)); then
	mapfile -t packages < <(go list -tags sqlite_fts5 -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v /editors/)
fi
# The flags are those of the archives, so that what was compiled for them serves here.
# -p 1: one program at a time, since qemu's own threads want the other processors.
exec env QEMU_LD_PREFIX=$libc GOOS=linux GOARCH=arm64 CGO_ENABLED=1 \
	CC="$zig cc -target aarch64-linux-gnu.2.31" CXX="$zig c++ -target aarch64-linux-gnu.2.31" \
	CGO_CFLAGS="-O2 -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fno-sanitize=undefined" \
	go test -trimpath -buildmode=pie -tags sqlite_fts5 -p 1 -timeout 120m -exec "$qemu -L $libc" "${packages[@]}"
