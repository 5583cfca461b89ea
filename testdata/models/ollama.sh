#!/usr/bin/env bash
# Builds the Ollama that the tests run against, once, and prints the binary's
# path. The folder is named after the version and what shapes the build, so a
# changed recipe builds anew and a finished build costs nothing.
#
#   testdata/models/ollama.sh          build if missing, print the path
#   testdata/models/ollama.sh --path   print the path only
#
# QUARRY_OLLAMA_VERSION builds another version beside it.
set -euo pipefail

version="${QUARRY_OLLAMA_VERSION:-0.17.4}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

# Without a vector instruction set the CPU backend is nine times slower, and
# setting these flags at all drops Go's own -O2.
flags="-O2"
[[ "$(uname -m)" == x86_64 ]] && grep -qw avx2 /proc/cpuinfo 2>/dev/null && flags="-O2 -march=x86-64-v3"

recipe="$({ echo "$flags"; cat "$here"/stubs/*/*; } | cksum | cut -d ' ' -f 1)"
dir="${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}/ollama/$version-$recipe"
bin="$dir/ollama"

if [[ "${1:-}" == --path || -x "$bin" ]]; then
	echo "$bin"
	exit 0
fi

say() { echo "ollama.sh: $*" >&2; }

include="-I$here/stubs"
if command -v brew >/dev/null; then # whose headers are on no default path
	include+=" -I$(brew --prefix)/include"
fi

# Ollama's module names nlohmann's JSON header and does not carry it.
# shellcheck disable=SC2086 # a list of flags
if ! echo '#include <nlohmann/json.hpp>' | "${CXX:-c++}" $include -E -x c++ - >/dev/null 2>&1; then
	if ! command -v apt-get >/dev/null; then
		say "nlohmann/json.hpp is missing: install nlohmann-json (brew install nlohmann-json, dnf install json-devel) and run again"
		exit 1
	fi
	sudo=""
	[[ $(id -u) == 0 ]] || sudo=sudo
	apt() { $sudo apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 "$@" >&2; }
	say "installing nlohmann-json3-dev"
	apt install -y --no-install-recommends nlohmann-json3-dev ||
		{ apt update && apt install -y --no-install-recommends nlohmann-json3-dev; } || {
		say "nlohmann/json.hpp cannot be installed: see apt-get's messages above, install nlohmann-json3-dev and run again"
		exit 1
	}
fi

mkdir -p "$dir"
if command -v flock >/dev/null; then # macOS has none, where the second builds too
	exec 9>"$dir.lock"
	flock 9 # two test runs may start together; the second finds the first one's work
	[[ -x "$bin" ]] && echo "$bin" && exit 0
fi
tmp="$(mktemp -d "$dir/build.XXXXXX")"
trap 'rm -rf "$tmp"' EXIT
say "building Ollama $version (minutes the first time)"
build() (
	cd "$tmp" && # outside any module: quarry's go.mod must not choose Ollama's dependencies
	GOBIN="$tmp" GOFLAGS=-buildvcs=false CGO_ENABLED=1 CGO_CPPFLAGS="$include" CGO_CFLAGS="$flags" CGO_CXXFLAGS="$flags" \
		go install -trimpath -ldflags "-s -w -X github.com/ollama/ollama/version.Version=$version" \
		"github.com/ollama/ollama@v$version" >&2
)
# Go does not repeat a download that breaks off; what it has by then it keeps.
build || { say "that failed; once more" && build; } || {
	say "Ollama $version cannot be built: see the messages above, and run again where a download failed"
	exit 1
}
mv "$tmp/ollama" "$bin" # a killed build leaves no half binary under the final name
echo "$bin"
