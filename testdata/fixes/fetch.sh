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
typescript=5.9.3 typescript_sum=jl1vZzPDinLr9eUt3J/t7V6FgNEw9QjvBPdysz9KfQDD41fQrC2Y4vKQdiaUpFT4bXlb1RHhLpp8wtm6M5TgSw==
mypy=1.18.2 ruff=0.14.4 jspecify=1.0.0

"$here/../holes/fetch.sh" "$trees"
"$here/../holes/fetch.sh" "$trees" "$here/repositories.json"
for name in bbolt cobra zap; do # what go vet compiles with them
	(cd "$trees/$name" && go mod download)
done
mkdir -p "$tools"
tools="$(cd "$tools" && pwd)"
if [[ ! -d "$tools/npm/node_modules/typescript" ]]; then
	work="$(mktemp -d "$tools/.fetch.XXXXXX")"
	trap 'rm -rf "$work"' EXIT
	(cd "$work" && npm pack --silent "typescript@$typescript" >/dev/null)
	sum="$(openssl dgst -sha512 -binary "$work"/typescript-*.tgz | base64 -w 0)"
	if [[ "$sum" != "$typescript_sum" ]]; then
		echo "fetch.sh: typescript $typescript has another sum than it had: $sum" >&2
		exit 1
	fi
	tar -xzf "$work"/typescript-*.tgz -C "$work"
	mkdir -p "$tools/npm/node_modules"
	mv "$work/package" "$tools/npm/node_modules/typescript"
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
