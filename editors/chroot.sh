#!/usr/bin/env bash
# The editors that quarry is tested in are newer than what a stable distribution ships, so the tests run
# Debian forky's own packages from a chroot. It is made once (about two minutes, 700 MB) and kept in the cache.
# A second one has what builds Zed's extension and checks Emacs's package (about a minute, 1.3 GB), a third what quarry's
# own parts do not reach: Vim with a generic LSP plugin, and what asks over HTTP. A fourth runs programs of other systems by Wine,
# which forky has not, and qemu (two minutes, 1.5 GB). A fifth has what judges the files for registries (a minute, 900 MB).
#
#   editors/chroot.sh make [ROOT]                   make it if it is missing; print where it is
#   editors/chroot.sh run [--root ROOT] [--bind DIR]... -- CMD
#                                                   run CMD in it; each DIR is seen there under its own path
#
# ROOT is `editors`, the default, `tools`, `clients`, `systems` or `registries`.
#
# Nothing stays: `run` mounts in a mount namespace that dies with the command, so deleting the cache can never reach
# through a bind mount into the real machine, and it starts CMD in a process namespace, so that whatever CMD left in
# the background (Neovim's server outlives its screen) ends with it. Needs root, for chroot and mount.
set -euo pipefail

cache=${QUARRY_CACHE:-$HOME/.cache/quarry}

die() { echo "chroot.sh: $*" >&2; exit 1; }

# Chooses one of the roots.
choose() {
	suite=forky
	case $1 in
	editors) root=$cache/forky packages=neovim,neovim-runtime,hx,emacs-nox,elpa-lsp-mode ;;
	tools) root=$cache/forky-tools packages=cargo,rustc,libstd-rust-dev-wasm32,lld,emacs-nox,elpa-lsp-mode,elpa-package-lint ;;
	systems) suite=trixie root=$cache/trixie-systems packages=wine,wine64,qemu-user,libc6-arm64-cross ;;
	registries) suite=trixie root=$cache/trixie-registries packages=ruby,nix-bin,lintian,emacs-nox ;;
	clients) root=$cache/forky-clients packages=vim-nox,vim-ale,neovim,curl,git,ca-certificates ;;
	*) die "there is no root $1: editors, tools, clients, systems or registries" ;;
	esac
	stamp=$root/.quarry-packages # written last: its presence says the chroot is whole, its text for which packages
}

# The archive this machine already installs from, so that a local mirror or proxy is honoured.
mirror() {
	# shellcheck disable=SC2016 # $(...) is apt's own template syntax
	apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' |
		awk '$1 == "Debian" && $2 == "Debian" { print $3; exit }'
}

make_root() {
	[ "$(cat "$stamp" 2>/dev/null)" = "$packages" ] && return
	[ "$(id -u)" = 0 ] || die "making the chroot needs root: run it with sudo"
	mkdir -p "$cache"
	exec 9>"$root.lock"
	flock 9 # two test runs may start together; the second finds the first one's work
	[ "$(cat "$stamp" 2>/dev/null)" = "$packages" ] && return

	command -v mmdebstrap >/dev/null || {
		apt-get update -qq
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap
	} >&2
	[ -n "$(mirror)" ] || apt-get update -qq >&2 # a bare machine has no index to name its archive by
	local uri
	uri=$(mirror)
	[ -n "$uri" ] || die "no Debian archive among this machine's apt sources; add one to /etc/apt/sources.list.d and run apt-get update"

	rm -rf "$root" "$root.partial"
	mmdebstrap --quiet --variant=apt --mode=root --aptopt='Acquire::Check-Valid-Until "false"' \
		--include="$packages" "$suite" "$root.partial" "$uri" >&2
	rm -rf "$root.partial"/var/cache/apt/archives/*.deb "$root.partial"/var/lib/apt/lists/*
	printf '%s\n' "$packages" >"$root.partial/${stamp##*/}"
	mv "$root.partial" "$root"
	flock -u 9
}

run() {
	local binds=()
	while [ $# -gt 0 ]; do
		case $1 in
		--root) choose "$2"; shift 2 ;;
		--bind) binds+=("$(realpath "$2")"); shift 2 ;;
		--) shift; break ;;
		*) die "unknown argument $1: usage: chroot.sh run [--root ROOT] [--bind DIR]... -- CMD" ;;
		esac
	done
	[ $# -gt 0 ] || die "no command: usage: chroot.sh run [--root ROOT] [--bind DIR]... -- CMD"
	make_root
	# The inner shell stays as the process that adopts and ends all others.
	# shellcheck disable=SC2016 # expanded by the inner shell
	exec unshare --mount --pid --fork --kill-child --propagation private bash -euc '
		root=$1 here=$2 n=$3; shift 3
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		mount -t tmpfs -o mode=1777 tmp "$root/tmp" # so that the folders that are bound below it do not stay in the cache
		for dir in "${@:1:n}"; do mkdir -p "$root$dir"; mount --bind "$dir" "$root$dir"; done
		shift "$n"
		chroot "$root" /bin/sh -c '\''cd "$1" 2>/dev/null || cd /; shift; exec "$@"'\'' sh "$here" "$@"
		exit "$?" # not the last command, which bash would become
	' bash "$root" "$PWD" "${#binds[@]}" "${binds[@]}" "$@"
}

choose editors
case ${1:-} in
make) choose "${2:-editors}"; make_root; echo "$root" ;;
run) shift; run "$@" ;;
*) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$0"; exit 2 ;;
esac
