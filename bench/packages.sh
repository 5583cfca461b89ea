#!/usr/bin/env bash
# Files and lines of Go and C by package at two revisions, tests apart, as a table in
# Markdown: bench/packages.sh [OLD [NEW]]. OLD is the state that bench/house.md compares
# with, and NEW is HEAD, unless others are given. What lies in testdata is left out.
set -euo pipefail
old=${1:-5e87fe2} new=${2:-HEAD}
cd "$(dirname "$0")/.."
lines() { git grep -c '' "$1" -- '*.go' '*.c' '*.h' ':!*testdata*' | sed "s|^[^:]*:|$2:|"; }
{ lines "$old" old; lines "$new" new; } | awk -F: -v old="$(git rev-parse --short "$old")" -v new="$(git rev-parse --short "$new")" '
	function cell(when, kind, package) {
		return files[when, kind, package] ? files[when, kind, package] ", " lines[when, kind, package] : ""
	}
	function row(name, package) {
		return "| " name " | " cell("old", "code", package) " | " cell("new", "code", package) " | " cell("old", "test", package) " | " cell("new", "test", package) " |"
	}
	{
		package = $2
		if (!sub("/[^/]*$", "", package)) package = "."
		kind = $2 ~ /_test\.go$/ ? "test" : "code"
		packages[package]
		files[$1, kind, package]++; lines[$1, kind, package] += $3
		files[$1, kind, "all"]++; lines[$1, kind, "all"] += $3
	}
	END {
		print "| package: files, lines | " old " | " new " | tests, " old " | tests, " new " |"
		print "|---|---|---|---|---|"
		sort = "sort -t\"|\" -k2,2"
		for (p in packages) print row(p, p) | sort
		close(sort)
		print row("all", "all")
	}'
