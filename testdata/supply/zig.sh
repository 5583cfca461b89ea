#!/usr/bin/env bash
# Prints the path of the one C compiler that archives of every system are made with: zig's
# clang, which carries the headers and libraries of each. It is fetched once, from its Python
# package, into quarry's cache.
set -euo pipefail

version=0.14.1
cache="${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}"
root="$cache/zig-$version"
if [[ ! -x "$root/zig" ]]; then
	mkdir -p "$cache"
	tmp="$(mktemp -d "$cache/zig.XXXXXX")"
	trap 'rm -rf "$tmp"' EXIT
	# A sum for each machine that builds archives: Linux on amd64 and on arm64.
	cat >"$tmp/wanted" <<-END
		ziglang==$version --hash=sha256:6eb9d4d759b292c83810dbee2e9e8e3fbfbf01d864e6e9811bae711fd74e1c2f --hash=sha256:7994b27f3cbfcedea43f9b7552e38b45857bdf0e9a45065474092dd74e7048cf
	END
	python3 -m pip install -q --no-deps --only-binary=:all: --require-hashes --root-user-action ignore --target "$tmp/site" -r "$tmp/wanted" >"$tmp/log" 2>&1 || {
		tail -n 5 "$tmp/log" >&2
		echo "zig.sh: Python's pip cannot fetch ziglang $version: see above" >&2
		exit 1
	}
	mv "$tmp/site/ziglang" "$root" # last: a fetch that is killed leaves no half compiler
	rm -rf "$tmp"
	trap - EXIT
fi
echo "$root/zig"
