# Serves a real model for the measurements of ghost.sh and fixes.sh, which source this:
#
#   serve SIZE LOG
#
# serves qwen2.5-coder:SIZE with llama.cpp built for this processor, or with
# MODEL_SERVER=ollama with Ollama, and returns when it answers; $settings is a folder
# whose settings of quarry name it, for XDG_CONFIG_HOME, and both go when the script ends.
# CODER_THREADS is how many threads it has, all processors by default.
# shellcheck shell=bash
serve() {
	local size="$1" log="$2" port=11596 api
	local -a start
	export CODER_THREADS="${CODER_THREADS:-$(nproc)}"
	case "${MODEL_SERVER:-llamacpp}" in
	llamacpp)
		testdata/models/llamacpp.sh >/dev/null
		testdata/models/coder.sh "$size" file >/dev/null
		api=openai
		ready() { curl -fsS "http://127.0.0.1:$port/health" >/dev/null 2>&1; }
		start=(testdata/models/llamacpp.sh serve "$size" "$port")
		;;
	ollama)
		CODER_OLLAMA="$(testdata/models/kernels.sh)"
		export CODER_OLLAMA
		api=ollama
		ready() { grep -q 'serves at' "$log"; }
		start=(testdata/models/coder.sh "$size" serve "$port")
		;;
	*)
		echo "${0##*/}: MODEL_SERVER is llamacpp or ollama" >&2
		exit 2
		;;
	esac
	settings="$(mktemp -d)"
	mkdir "$settings/quarry"
	echo "{\"model\": \"qwen2.5-coder:$size\", \"ollama\": {\"api\": \"$api\", \"url\": \"http://127.0.0.1:$port\"}}" >"$settings/quarry/settings.json"
	setsid "${start[@]}" >"$log" 2>&1 &
	server=$!
	trap 'kill -- -"$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$settings"' EXIT
	until ready; do
		kill -0 "$server" || {
			tail -n 20 "$log" >&2
			exit 1
		}
		sleep 1
	done
	export XDG_CONFIG_HOME="$settings"
}
