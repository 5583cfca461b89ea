#!/usr/bin/env bash
# Fetches what the evaluation of fixes needs: the trees of suite.json into TREES, and the
# compilers and linters that come as packages, with their versions pinned, into TOOLS.
# What is there already is left alone.
#
#   testdata/fixes/fetch.sh TREES TOOLS
#
# Needs go, rustc, node with npm, javac, gcc, g++, python3 with pip, cargo and mvn.
set -euo pipefail

trees="${1:?the folder to fetch the trees into}" tools="${2:?the folder for the checkers}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
typescript=5.9.3 mypy=1.18.2 ruff=0.14.4 jspecify=1.0.0

"$here/../holes/fetch.sh" "$trees"
"$here/../holes/fetch.sh" "$trees" "$here/repositories.json"
for name in bbolt cobra zap; do # what go vet compiles with them
	(cd "$trees/$name" && go mod download)
done
mkdir -p "$tools"
tools="$(cd "$tools" && pwd)"
if [[ ! -d "$tools/npm/node_modules/typescript" ]]; then
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$tools/npm" "typescript@$typescript" >&2
fi
if [[ ! -d "$tools/py" ]]; then
	rm -rf "$tools/py.new" # a fetch that was killed
	python3 -m pip install -q --only-binary :all: --target "$tools/py.new" "mypy==$mypy" "ruff==$ruff" >&2
	mv "$tools/py.new" "$tools/py"
fi
if [[ ! -f "$tools/jars/jspecify-$jspecify.jar" ]]; then # jsoup's annotations
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
		-Dartifact="org.jspecify:jspecify:$jspecify" -DoutputDirectory="$tools/jars" >&2
fi
