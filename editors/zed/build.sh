#!/usr/bin/env bash
# Zed's extension as Zed builds it: a WebAssembly component for wasm32-wasip2. The compiler is that of the tools chroot
# (editors/chroot.sh), because rustup's has that target only where it can download it; the linker that makes components comes
# from the Rust registry (some minutes, once), and so do the extension's own crates.
#
#   editors/zed/build.sh make    build it; print the component's path
#   editors/zed/build.sh host    print a Python that can host it (host.py), made once with the package wasmtime
#
# Needs root, for the chroot.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${QUARRY_CACHE:-$HOME/.cache/quarry}/zed
linker=wasm-component-ld@0.5.31
wasmtime=50.0.1

make_component() {
	"$here/../chroot.sh" make tools >/dev/null
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	flock 9 # two test runs may start together; the second finds the first one's work
	# shellcheck disable=SC2016 # expanded in the chroot
	"$here/../chroot.sh" run --root tools --bind "$here" --bind "$cache" --bind /etc/ssl -- /bin/sh -euc '
		export CARGO_HOME=$1/cargo PATH=$1/linker/bin:$PATH
		grep -qs "wasm-component-ld ${2#*@} " "$1/linker/.crates.toml" ||
			cargo install --quiet --locked --root "$1/linker" "$2"
		cd "$3"
		cargo build --quiet --locked --release --target wasm32-wasip2 --target-dir "$1/target"
	' sh "$cache" "$linker" "$here" >&2
	flock -u 9
	echo "$cache/target/wasm32-wasip2/release/quarry_lsp.wasm"
}

make_host() {
	local python=$cache/host/bin/python
	"$python" -c "import importlib.metadata as m; assert m.version('wasmtime') == '$wasmtime'" 2>/dev/null || {
		rm -rf "$cache/host"
		python3 -m venv "$cache/host"
		"$python" -m pip install --quiet "wasmtime==$wasmtime"
	} >&2
	echo "$python"
}

case ${1:-} in
make) make_component ;;
host) make_host ;;
*) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$0"; exit 2 ;;
esac
