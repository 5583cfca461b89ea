# Read by minilm.sh and coder.sh: what is theirs to say is in $ollama, $cache, say and
# create.

# serve PORT MODEL STORE: an Ollama of its own on a port, with its models in a folder of
# the cache, which has MODEL (create makes it) and serves until it is stopped.
serve() {
	export OLLAMA_HOST="127.0.0.1:$1" OLLAMA_MODELS="$cache/$3" OLLAMA_NUM_PARALLEL=1
	"$ollama" serve &
	server=$!
	trap 'kill "$server" 2>/dev/null || true' EXIT
	until "$ollama" list >/dev/null 2>&1; do
		kill -0 "$server" # or it has ended
		sleep 0.1
	done
	"$ollama" show "$2" >/dev/null 2>&1 || create
	say "$2 serves at http://$OLLAMA_HOST"
	wait "$server"
}
