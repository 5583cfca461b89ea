package overview_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// What a project is for is found wherever it is said: each answer's first place, and a part of
// what its reasons say.
func TestWhereProjectsSpeak(t *testing.T) {
	code := "package boats\n\nfunc Ferry() { Steer() }\n"
	for name, c := range map[string]struct {
		files      map[string]string
		place, why string
	}{
		"README in .github":  {map[string]string{".github/README.md": "# Ferry\n\nBooks places.\n"}, ".github/README.md:3", "says what this is for"},
		"README in docs":     {map[string]string{"docs/README.rst": "Ferry\n=====\n\nBooks places.\n"}, "docs/README.rst:4", ""},
		"README of a title":  {map[string]string{"README.md": "# Ferry books places\n"}, "README.md:1", ""},
		"package.json":       {map[string]string{"package.json": "{\n \"name\": \"ferry\",\n \"description\": \"Books places\"\n}\n"}, "package.json:3", "Books places"},
		"composer.json":      {map[string]string{"composer.json": "{\n \"description\": \"Books places\"\n}\n"}, "composer.json:2", "Books places"},
		"pyproject.toml":     {map[string]string{"pyproject.toml": "[project]\nname = \"ferry\"\ndescription = \"Books places\"\n"}, "pyproject.toml:3", "Books places"},
		"Cargo.toml":         {map[string]string{"Cargo.toml": "[package]\nname = \"ferry\"\ndescription = \"\"\"\nBooks places\"\"\"\n"}, "Cargo.toml:4", "Books places"},
		"pom.xml":            {map[string]string{"pom.xml": "<project>\n  <description>Books places</description>\n  <dependencies/>\n</project>\n"}, "pom.xml:2", "Books places"},
		"pom.xml, two lines": {map[string]string{"META-INF/maven/ferry/pom.xml": "<project>\n  <description>\n    Books places\n  </description>\n</project>\n"}, "META-INF/maven/ferry/pom.xml:3", "Books places"},
		"gemspec":            {map[string]string{"ferry.gemspec": "Gem::Specification.new do |s|\n  s.summary = %q{Books places}\nend\n"}, "ferry.gemspec:2", "Books places"},
		"setup.py":           {map[string]string{"setup.py": "setup(\n    name='ferry',\n    description='Books places',\n)\n"}, "setup.py:3", "Books places"},
		"cabal":              {map[string]string{"ferry.cabal": "name: ferry\nsynopsis: Books places\n"}, "ferry.cabal:2", "Books places"},
		"mix.exs":            {map[string]string{"mix.exs": "defmodule Ferry do\n  def project do\n    [\n      description: \"Books places\",\n      app: :ferry\n    ]\n  end\nend\n"}, "mix.exs:4", "Books places"},
		"a package":          {map[string]string{"src/ferry/__init__.py": "\"\"\"Books places.\"\"\"\n", "src/ferry/other.py": "\"\"\"Rows.\"\"\"\n"}, "src/ferry/__init__.py:1", "Books places."},
		"a crate":            {map[string]string{"src/lib.rs": "//! Books places on boats.\n\npub fn ferry() {}\n"}, "src/lib.rs:1", "Books places on boats."},
		"code alone":         {map[string]string{"a.go": "package boats\n\nfunc a() { Steer() }\n", "b.go": "package boats\n\nfunc b() { Steer() }\n"}, "boats/boats.go:4", "Steer is used in 4 files"},
		"a licence":          {map[string]string{"src/lib.rs": "// Copyright of the boats. All rights reserved.\n\npub fn ferry() {}\n", "a.go": "package boats\n\nfunc a() { Steer() }\n"}, "boats/boats.go:4", "nothing says what this is for; Steer is used"},
	} {
		root := t.TempDir()
		write(t, root, "boats/boats.go", strings.Replace(code, "func Ferry", "\nfunc Steer() {}\n\nfunc Ferry", 1))
		write(t, root, "boats/more.go", code)
		for file, text := range c.files {
			write(t, root, file, text)
		}
		for _, question := range []string{"what is this repository about", "give me an overview"} {
			answer := ask(t, workspaceOf(t, root), question)
			if len(answer.Results) == 0 {
				t.Errorf("%s, %s: nothing", name, question)
				continue
			}
			r := answer.Results[0]
			if got := fmt.Sprintf("%s:%d", r.Path, r.StartLine); got != c.place || !strings.Contains(strings.Join(r.Reasons, ", "), c.why) {
				t.Errorf("%s, %s: %s because %q, want %s because %q", name, question, got, r.Reasons, c.place, c.why)
			}
		}
	}
}

func ask(t *testing.T, w *workspace.Workspace, question string) workspace.Answer {
	t.Helper()
	answer, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(question, time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// Where nothing tells what a project is or how it is built, nothing is said to; and beside what tells it,
// nothing is shown that only has "this" and "is".
func TestNothingIsMadeUp(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a.go", "package a\n\n// this is what it does\nfunc a() {}\n")
	w := workspaceOf(t, root)
	if answer := ask(t, w, "what is this repository about"); slices.Contains(answer.Backend, workspace.BackendProject) {
		t.Errorf("of code that says nothing of itself: %+v", answer)
	}
	write(t, root, "META-INF/maven/ferry/pom.xml", "<project>\n  <description>Books places</description>\n</project>\n")
	w = workspaceOf(t, root)
	if answer := ask(t, w, "what is this repository about"); len(answer.Results) != 1 || answer.Total != 1 {
		t.Errorf("beside the description: %+v", answer.Results)
	}
	answer := ask(t, w, "how do I build this")
	if len(answer.Results) == 0 || answer.Results[0].Path != "META-INF/maven/ferry/pom.xml" || !slices.Contains(answer.Results[0].Reasons, "no command for that was found") {
		t.Errorf("how an archive is built: %+v", answer.Results)
	}
}

// A question that names something of the code is searched for, whatever it begins with.
func TestNearMisses(t *testing.T) {
	w := project(t, "ferry")
	for _, question := range []string{
		"explain the architecture of the parser", "how does this project parse dates", "explain the booking", "give me an overview of the tide", "what are the main components of a booking",
		"how do I get started with a booking", "how do I run a program", "how does ferry run the tests",
	} {
		if answer := ask(t, w, question); slices.Contains(answer.Backend, workspace.BackendProject) {
			t.Errorf("%s: %q", question, answer.Backend)
		}
	}
}

// How it is built and run is said by the kind of its manifest where nothing else says so, and
// documents by their names.
func TestBuildAndRun(t *testing.T) {
	for name, c := range map[string]struct {
		files           map[string]string
		question, place string
		why             string
	}{
		"a crate is built":  {map[string]string{"Cargo.toml": "[package]\nname = \"ferry\"\n", "src/main.rs": "fn main() {}\n"}, "how do I build this", "Cargo.toml:1", "`cargo build` builds it, as usual"},
		"a crate is run":    {map[string]string{"Cargo.toml": "[package]\nname = \"ferry\"\n", "src/main.rs": "fn main() {}\n"}, "how do I run it", "Cargo.toml:1", "`cargo run` runs it, as usual"},
		"a PHP script":      {map[string]string{"composer.json": "{\n \"scripts\": {\n  \"test\": [\"phpunit\"]\n }\n}\n", "a.php": "<?php\n"}, "how do I run the tests", "composer.json:3", "`composer run test` runs phpunit"},
		"pnpm":              {map[string]string{"pnpm-workspace.yaml": "packages: []\n", "package.json": "{\n \"scripts\": {\n  \"test\": \"jest\"\n }\n}\n", "a.js": "run()\n"}, "how do I run the tests", "package.json:3", "`pnpm run test` runs jest"},
		"rake":              {map[string]string{"Rakefile": "require 'rake/testtask'\n\nRake::TestTask.new do |t|\nend\n", "a.rb": "run\n"}, "how do I run the tests", "Rakefile:3", "`rake test`"},
		"just":              {map[string]string{"justfile": "build:\n  x\ntest *args:\n  x\n", "a.rs": "fn a() {}\n"}, "how do I run the tests", "justfile:3", "`just test`"},
		"task":              {map[string]string{"Taskfile.yml": "version: 3\ntasks:\n  lint:\n    x\n  test:\n    x\n", "a.rs": "fn a() {}\n"}, "how do I run the tests", "Taskfile.yml:5", "`task test`"},
		"Bazel":             {map[string]string{"MODULE.bazel": "module(name = 'a')\n", "a_test.cc": "int a();\n"}, "how do I run the tests", "MODULE.bazel:1", "`bazel test //...`"},
		"ctest":             {map[string]string{"CMakeLists.txt": "project(a)\nenable_testing()\n", "tests/a_test.cc": "int a();\n"}, "how do I run the tests", "CMakeLists.txt:1", "`ctest --test-dir build`"},
		"a licence's check": {map[string]string{"Makefile": "check-licence:\n\tx\nlatest: ## as the latest\n\tx\n", "README.md": "# Ferry\n\nBooks.\n"}, "how do I run the tests", "README.md:3", "no command for that was found"},
		"a part's manifest": {map[string]string{"README.md": "# Ferry\n\nBooks.\n", "a/package.json": "{\n \"description\": \"Rows\"\n}\n"}, "what is this repository about", "README.md:3", "says what this is for"},
		"a wrapper":         {map[string]string{"build.gradle": "plugins {}\n", "gradlew": "#!/bin/sh\n", "src/A.java": "class A {}\n"}, "how do I build this", "build.gradle:1", "`./gradlew build`"},
		"a script runs":     {map[string]string{"package.json": "{\n \"scripts\": {\n  \"build\": \"tsc\",\n  \"start\": \"node a.js\"\n }\n}\n", "a.js": "run()\n"}, "how do I run it", "package.json:4", "`npm run start`"},
		"a program":         {map[string]string{"cmd/a/main.go": "package main\n\nfunc main() {}\n"}, "how do I run it", "cmd/a/main.go:3", "begins here"},
		"a document":        {map[string]string{"docs/getting-started.md": "# Start\n\nHere.\n"}, "how do I get started", "docs/getting-started.md:1", "a document by this name"},
		"architecture":      {map[string]string{"ARCHITECTURE.md": "# How it stands\n\nSo.\n"}, "explain the architecture", "ARCHITECTURE.md:1", "a document by this name"},
		"a section":         {map[string]string{"README.md": "# Ferry\n\nBooks.\n\n## Getting started\n\nRow.\n"}, "how do I get started", "README.md:3", "says so under Getting started"},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			write(t, root, file, text)
		}
		answer := ask(t, workspaceOf(t, root), c.question)
		if len(answer.Results) == 0 {
			t.Errorf("%s: nothing", name)
			continue
		}
		r := answer.Results[0]
		if got := fmt.Sprintf("%s:%d", r.Path, r.StartLine); got != c.place || !strings.Contains(strings.Join(r.Reasons, ", "), c.why) {
			t.Errorf("%s: %s because %q, want %s because %q", name, got, r.Reasons, c.place, c.why)
		}
		if name == "a part's manifest" && len(answer.Results) != 1 {
			t.Errorf("%s does not speak for the whole: %+v", name, answer.Results)
		}
	}
}

// In a workspace of several folders each says what it is for.
func TestPurposeOverFolders(t *testing.T) {
	roots := map[string]bool{}
	for _, r := range ask(t, project(t, "ferry", "bridge"), "what is this project about").Results {
		if r.Path == "README.md" {
			roots[r.Root] = true
		}
	}
	if len(roots) != 2 {
		t.Errorf("READMEs of %v", roots)
	}
}
