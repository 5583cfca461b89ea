#!/usr/bin/env bash
# usage: fetch.sh DIR: unpack the packages of repos.json into DIR/NAME with the
# clients of their registries (go, pip, cargo), at the versions given there.
set -euo pipefail
dir=$1
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir -p "$dir"

go_module() { # NAME MODULE@VERSION
	local from
	from=$(cd "$work" && GOFLAGS=-mod=mod go mod download -json "$2" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	cp -R "$from" "$dir/$1"
	chmod -R u+w "$dir/$1"
}

pypi() { # NAME NAME==VERSION
	python3 -m pip download --quiet --no-deps --no-binary :all: --dest "$work/$1" "$2"
	mkdir -p "$dir/$1"
	tar -xzf "$work/$1"/*.tar.gz --strip-components=1 -C "$dir/$1"
}

crate() { # NAME =VERSION
	mkdir -p "$work/$1/src"
	printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s = "%s"\n' "$1" "$2" >"$work/$1/Cargo.toml"
	touch "$work/$1/src/lib.rs"
	(cd "$work/$1" && cargo vendor --quiet >/dev/null)
	cp -R "$work/$1/vendor/$1" "$dir/$1"
}

go_module go-memdb github.com/hashicorp/go-memdb@v1.3.5
go_module go-internal github.com/rogpeppe/go-internal@v1.14.1
pypi diskcache diskcache==5.6.3
pypi huey huey==2.5.3
crate ropey =1.6.1
