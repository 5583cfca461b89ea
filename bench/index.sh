#!/usr/bin/env bash
# Takes the figures of bench/index.md.
#
#   bench/index.sh TREES          # measure, about 8 minutes on 2 quiet cores
#   bench/index.sh TREES prepare  # only fetch and make the trees
#
# TREES is a folder for the source trees, which are kept for the next time: npm
# packages and a Debian source package, fetched as this machine is set up to fetch
# them, and generated files. The Go distribution's is where Go is.
set -euo pipefail
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
trees=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
tags=sqlite_fts5
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

npm_tree() {
	[ -d "$trees/js" ] && return
	mkdir -p "$bin/js"
	for package in monaco-editor@0.52.2 three@0.170.0 rxjs@7.8.1; do
		(cd "$bin/js" && file=$(npm pack --silent "$package") && mkdir "${file%.tgz}" && tar xzf "$file" -C "${file%.tgz}" && rm "$file")
	done
	rm -rf "$bin"/js/monaco-editor-*/package/{min,min-maps,dev} # the same again, minified or bundled
	mv "$bin/js" "$trees/js"
}

debian_tree() {
	[ -d "$trees/postgresql" ] && return
	mkdir -p "$bin/apt/lists/partial" "$bin/apt/cache/archives/partial" "$bin/source"
	awk -v RS= 'NR == 1 { sub(/Types: deb/, "Types: deb-src"); print }' /etc/apt/sources.list.d/debian.sources >"$bin/apt/list.sources"
	options=(-qq -o "Dir::Etc::SourceParts=/dev/null" -o "Dir::Etc::SourceList=$bin/apt/list.sources"
		-o "Dir::State::Lists=$bin/apt/lists" -o "Dir::Cache=$bin/apt/cache")
	apt-get "${options[@]}" update
	(cd "$bin/source" && apt-get "${options[@]}" source --download-only postgresql-15 && tar xf postgresql-15_*.orig.tar.*)
	mv "$bin"/source/postgresql-*/ "$trees/postgresql"
}

go build -trimpath -tags $tags -o "$bin/indexbench" ./bench/indexbench
go build -trimpath -tags $tags -o "$bin/quarry" ./cmd/quarry
npm_tree
debian_tree
[ -d "$trees/generated" ] || { "$bin/indexbench" -generate 100000 "$bin/generated" && mv "$bin/generated" "$trees/generated"; }
[ "${2:-}" != prepare ] || exit 0

gosrc=$(go env GOROOT)/src
uptime
for tree in "$gosrc" "$trees/js" "$trees/postgresql" "$trees/generated"; do
	"$bin/indexbench" -edits 100 "$tree"
done
echo "one core:"
GOMAXPROCS=1 taskset -c 0 "$bin/indexbench" -edits 0 "$gosrc"
for tree in "$gosrc" "$trees/postgresql"; do
	echo "typing, $tree:"
	"$bin/indexbench" -keystrokes "$bin/quarry" "$tree"
done
uptime
