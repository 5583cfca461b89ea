#!/usr/bin/env bash
# Fetches the source trees of repositories.json, or of another LIST like it, into DIR,
# one folder each, from the registries of their languages: the evaluation of ghost text
# cuts its holes there. A tree that is there already is left alone, so a fetch that broke
# off goes on.
#
#   testdata/holes/fetch.sh DIR [LIST]
#
# Needs go, npm, python3 with pip, cargo and mvn.
set -euo pipefail

dir="${1:?the folder to fetch the trees into}"
list="${2:-$(dirname "${BASH_SOURCE[0]}")/repositories.json}"
mkdir -p "$dir"
dir="$(cd "$dir" && pwd)"
work="$(mktemp -d "$dir/.fetch.XXXXXX")"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

from_go() { # PACKAGE VERSION TREE
	local module
	module="$(cd "$work" && go mod download -json "$1@$2" | python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')"
	cp -r "$module/." "$3"
	chmod -R u+w "$3"
}

from_npm() {
	local archive
	archive="$(cd "$work" && npm pack --silent "$1@$2" | tail -n 1)"
	tar -xzf "$work/$archive" -C "$3" --strip-components=1
}

from_pypi() { # a wheel is a zip archive, and no code of it runs
	python3 -m pip download -q --no-deps --only-binary :all: -d "$work/wheel" "$1==$2"
	python3 -m zipfile -e "$work"/wheel/*.whl "$3"
	rm -rf "$work/wheel"
}

from_crates() {
	mkdir -p "$work/crate/src"
	touch "$work/crate/src/lib.rs"
	printf '[package]\nname = "holes"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n%s = { version = "=%s", default-features = false }\n' "$1" "$2" >"$work/crate/Cargo.toml"
	(cd "$work/crate" && cargo vendor --quiet --versioned-dirs vendor >/dev/null)
	cp -r "$work/crate/vendor/$1-$2/." "$3"
	rm -rf "$work/crate"
}

from_maven() {
	local group="${1%%:*}" artifact="${1##*:}"
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
		-Dartifact="$group:$artifact:$2:jar:sources" -DoutputDirectory="$work/jar" >&2
	python3 -m zipfile -e "$work/jar/$artifact-$2-sources.jar" "$3"
	rm -rf "$work/jar"
}

python3 - "$list" <<'PY' |
import json, sys
for r in json.load(open(sys.argv[1])):
    print(r["name"], r["from"], r["package"], r["version"])
PY
	while read -r name from package version; do
		[[ -d "$dir/$name" ]] && continue
		echo "fetch.sh: $name" >&2
		mkdir -p "$work/tree"
		"from_$from" "$package" "$version" "$work/tree" </dev/null
		mv "$work/tree" "$dir/$name" # a fetch that is killed leaves no half tree
	done
