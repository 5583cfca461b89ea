#!/usr/bin/env bash
# Builds llama.cpp's server for this very processor from the source that its Python
# package carries, once, into quarry's cache, and prints the program's path. A real
# model of testdata/models/coder.sh reads a prompt with it some two and a half times
# as fast as with Ollama, on processors whose instructions Ollama's builds leave out.
#
#   testdata/models/llamacpp.sh                    the path of llama-server
#   testdata/models/llamacpp.sh serve SIZE PORT    serves qwen2.5-coder:SIZE, as OpenAI's
#                                                  interface, until it is stopped
set -euo pipefail

version=0.3.36
source=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}"
bin="$cache/llamacpp-$version/llama-server"

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
	python3 -m pip download -q --no-deps --no-binary :all: -d "$tmp" "llama-cpp-python==$version" >"$tmp/log" 2>&1 || {
		tail -n 5 "$tmp/log" >&2
		exit 1
	}
	archive="$tmp/llama_cpp_python-$version.tar.gz"
	echo "$source  $archive" | sha256sum --check --quiet >&2
	tar -xzf "$archive" -C "$tmp"
	{
		cmake -S "$tmp/llama_cpp_python-$version/vendor/llama.cpp" -B "$tmp/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
			-DGGML_NATIVE=ON -DBUILD_SHARED_LIBS=OFF -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF &&
			ninja -C "$tmp/build" llama-server
	} >>"$tmp/log" 2>&1 || {
		tail -n 20 "$tmp/log" >&2
		say "llama.cpp cannot be built: see above"
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
	--ctx-size "${CODER_CONTEXT:-8192}" --parallel 1 --no-webui
