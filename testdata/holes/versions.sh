#!/usr/bin/env bash
# Fetches two versions each of some Go modules, DIR/old/NAME and DIR/new/NAME, as links to
# where go keeps them: what is typed in evaluations is what was added between them.
#
#   testdata/holes/versions.sh DIR
set -euo pipefail

mkdir -p "${1:?the folder to fetch the versions into}"/{old,new}
module() { # MODULE VERSION LINK
	ln -sfn "$(cd / && go mod download -json "$1@$2" | python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')" "$3"
}
while read -r name path old new; do
	module "$path" "$old" "$1/old/$name"
	module "$path" "$new" "$1/new/$name"
done <<'VERSIONS'
cobra github.com/spf13/cobra v1.8.0 v1.8.1
gin github.com/gin-gonic/gin v1.9.1 v1.10.0
raft github.com/hashicorp/raft v1.6.1 v1.7.1
viper github.com/spf13/viper v1.18.2 v1.19.0
VERSIONS
