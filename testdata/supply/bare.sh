#!/usr/bin/env bash
# Tries the archives for Linux on bare systems: a Debian of today and the oldest that the archive promises to run on, each
# with nothing but its base, and what other roots it is given, say of Alpine or Fedora. None has a compiler, git, Go or a
# network. There quarry must say its version, complete without a model, search, and tell what is missing for a model.
# Prints the seconds from unpacking to the first completion.
#
#   testdata/supply/bare.sh bin/dist [ROOT.tar.gz]...    (needs root; a root is a system's files, as its distribution publishes them)
set -euo pipefail

die() { echo "bare.sh: $*" >&2; exit 1; }

dist=$(realpath "${1:?the folder of the archives}")
shift
sample=$(realpath "$(dirname "$0")/../sample")
cache=${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}/bare
case $(uname -m) in x86_64) arch=amd64 ;; aarch64) arch=arm64 ;; *) die "there is no archive for $(uname -m)" ;; esac

[ "$(id -u)" = 0 ] || die "a system of its own needs root: run it with sudo"
command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: install it, and run again"
# shellcheck disable=SC2016 # $(...) is apt's own template syntax
mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' | awk '$1 == "Debian" && $2 == "Debian" { print $3; exit }')
[ -n "$mirror" ] || die "no Debian archive among this machine's apt sources: run apt-get update"
mkdir -p "$cache"

# try FOLDER: all of it, on a copy that is thrown away.
try() {
	local root archive libc=
	root=$(mktemp -d "$cache/try.XXXXXX")
	cp -a "$1/." "$root"
	if compgen -G "$root/lib/ld-musl-*" >/dev/null; then libc=-musl; fi
	archive=$(compgen -G "$dist/quarry-*-linux-$arch$libc.tar.gz" | head -n 1) || { echo "there is no archive for linux-$arch$libc in $dist"; rm -rf "$root"; return 1; }
	# What a user is about to type, at the end of a function's first line.
	cp -r "$sample" "$root/root/sample"
	sed -i "/^func (s \*Shelf) Remove(/a\\	s.mu.L" "$root/root/sample/stock/shelf.go"
	local line start
	line=$(grep -n "	s\.mu\.L\$" "$root/root/sample/stock/shelf.go" | cut -d: -f1)
	start=$(date +%s.%N)
	mkdir -p "$root/opt/q"
	tar -xzf "$archive" -C "$root/opt/q" --strip-components 1
	# The inner shell stays as the process that adopts and ends all others.
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare --mount --pid --net --fork --kill-child --propagation private bash -euc '
		mount -t proc proc "$1/proc"
		mount --rbind /dev "$1/dev"
		chroot "$1" /usr/bin/env -i HOME=/root PATH=/opt/q:/usr/bin:/bin LINE="$2" sh -euc '\''
			for tool in cc gcc clang go git make; do if command -v $tool; then echo "this system is not bare: it has $tool" >&2; exit 1; fi; done
			cd /root/sample
			version=$(quarry version)
			case $version in "quarry "*linux/*) echo "$version" ;; *) echo "version says: $version" >&2; exit 1 ;; esac
			quarry complete --json "stock/shelf.go:$LINE:8" >/tmp/complete 2>/tmp/why || { cat /tmp/why >&2; exit 1; }
			grep -qF "\"insert_text\": \"ock()" /tmp/complete || { echo "no completion: $(cat /tmp/complete /tmp/why)" >&2; exit 1; }
			touch /tmp/first
			quarry search --json -k 3 how does a shelf know that it is empty >/tmp/search
			grep -q "stock/shelf.go" /tmp/search || { echo "the search finds: $(cat /tmp/search)" >&2; exit 1; }
			code=0; quarry doctor >/tmp/doctor 2>&1 || code=$?
			[ $code = 1 ] || { echo "doctor exits $code with no model" >&2; exit 1; }
			grep -qi ollama /tmp/doctor || { echo "doctor advises: $(cat /tmp/doctor)" >&2; exit 1; }
		'\''
		exit "$?"
	' bash "$root" "$line" || { rm -rf --one-file-system "$root"; return 1; }
	echo "version, completion, search and advice; first completion $(awk -v a="$start" -v b="$(stat -c %.9Y "$root/tmp/first")" 'BEGIN {printf "%.1f", b - a}') s after unpacking began"
	rm -rf --one-file-system "$root"
}

failed=0
for suite in bullseye bookworm; do
	root=$cache/$suite
	if [ ! -e "$root/.whole" ]; then
		rm -rf --one-file-system "$root" # what a killed run left mounted there is no part of it
		if ! mmdebstrap --quiet --variant=minbase --mode=root --aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$root" "$mirror" >"$cache/log" 2>&1; then
			echo "$suite: not tried, the archive of Debian here has it not: $(tail -n 1 "$cache/log")"
			continue
		fi
		touch "$root/.whole"
	fi
	echo -n "$suite: "
	try "$root" || failed=1
done
for given; do
	root=$(mktemp -d "$cache/given.XXXXXX")
	tar -xf "$given" -C "$root"
	echo -n "$(. "$root/etc/os-release" && echo "$PRETTY_NAME"): "
	try "$root" || failed=1
	rm -rf --one-file-system "$root"
done
(($#)) || echo "Fedora, Alpine and others: not tried, since no root of theirs was given and only Debian's can be made here"
exit $failed
