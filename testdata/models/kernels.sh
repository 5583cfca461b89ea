#!/usr/bin/env bash
# Gives the Ollama of ollama.sh the processor kernels that a released one has, and
# prints that binary's path: with them it reads prompts up to twice as fast, and
# evaluations with a real model take half the night. They are built once, by CMake
# from Ollama's own module.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
ollama="$("$here/ollama.sh")"
root="$(dirname "$ollama")/kernels"
bin="$root/bin/ollama"
if [[ -x "$bin" ]]; then
	echo "$bin"
	exit 0
fi

say() { echo "kernels.sh: $*" >&2; }

if [[ "$(uname -m)" != x86_64 ]]; then
	say "kernels are built for x86-64 only; using $ollama"
	echo "$ollama"
	exit 0
fi
for tool in cmake ninja; do
	command -v "$tool" >/dev/null || {
		say "$tool is missing: install cmake and ninja-build, and run again"
		exit 1
	}
done
version="$("$ollama" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | tail -n 1)"
module="$(cd / && go mod download -json "github.com/ollama/ollama@v$version" | python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')"
mkdir -p "$root"
tmp="$(mktemp -d "$root/build.XXXXXX")"
trap 'rm -rf "$tmp"' EXIT
say "building the kernels of Ollama $version (minutes)"
cmake -S "$module" -B "$tmp" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON >"$tmp/log" 2>&1 &&
	ninja -C "$tmp" ggml-base ggml-cpu-haswell ggml-cpu-skylakex ggml-cpu-icelake >>"$tmp/log" 2>&1 || {
	tail -n 20 "$tmp/log" >&2
	say "the kernels cannot be built: see above"
	exit 1
}
mkdir -p "$root/lib/ollama" "$root/bin"
cp -a "$tmp"/lib/ollama/*.so* "$root/lib/ollama/"
cp "$ollama" "$bin.new"
mv "$bin.new" "$bin" # last: a build that is killed leaves no half result
echo "$bin"
