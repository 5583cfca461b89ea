package overview

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// kind is a kind of manifest: which files are of it, and what their lines say. They are read
// by lines and not by their formats' parsers, because each thing said needs the line it is
// said in, and a manifest that does not parse still says something.
type kind struct {
	name string // as path.Match takes it, in lower case
	// sections, if not nil, matches the headings below which needs counts; a line that
	// matches heading is a heading.
	heading, sections *regexp.Regexp
	// needs has the name of something needed as its first group.
	needs *regexp.Regexp
	// test is what runs the tests where there is such a file and some are there, build what
	// builds where code is there, and run what runs it; "" if that is not known.
	test, build, run string
	// has, if not nil, stands in one that has tests.
	has *regexp.Regexp
	// describes has the description of the package as its first group, which may be empty where
	// that begins on the next line.
	describes *regexp.Regexp
}

var (
	tomlHeading = regexp.MustCompile(`^\[`)
	tomlKey     = regexp.MustCompile(`^"?([A-Za-z0-9_][\w.-]*)"?\s*=`)
)

var (
	tomlDescription = regexp.MustCompile(`^description\s*=\s*(["'].*)$`)
	yamlDescription = regexp.MustCompile(`^description:\s*(.*)$`)
	codeDescription = regexp.MustCompile(`^description\s*[=:]?\s*["'](.+?)["'],?$`)
	xmlDescription  = regexp.MustCompile(`(?i)^<description>(.*)$`)
	// A gem's has quotes of Ruby's own.
	gemDescription = regexp.MustCompile(`\.(?:summary|description)\s*=\s*(?:%[qQ]?[{(\[|<])?(.+?)[})\]|>]?$`)
)

var kinds = []kind{
	{name: "go.mod", heading: regexp.MustCompile(`^(?:require|replace|exclude|retract|tool|module|go|toolchain)\b`), sections: regexp.MustCompile(`^require\b`),
		needs: regexp.MustCompile(`^(?:require\s+)?([\w.-]+\.[\w.-]+(?:/[^\s]+)*)\s+v\d[^/]*$`), test: "go test ./...", build: "go build ./..."},
	{name: "cargo.toml", heading: tomlHeading, sections: regexp.MustCompile(`dependencies\]`), needs: tomlKey, test: "cargo test", build: "cargo build", describes: tomlDescription},
	{name: "pyproject.toml", heading: regexp.MustCompile(`^(?:\[|\]|(?:dependencies|name|version|description|readme|license|license-files|authors|maintainers|keywords|classifiers|requires-python|dynamic|urls|scripts)\s*=)`), sections: regexp.MustCompile(`^(?:dependencies\s*=|\[tool\.poetry\..*dependencies\])`),
		needs: regexp.MustCompile(`^(?:dependencies\s*=\s*\[\s*)?["']?([A-Za-z0-9_][\w.-]*)(?:\[[^\]]*\])?\s*(?:[<>=!~;]|["']\s*[,\]]|=)`), test: "pytest", build: "pip install .", describes: tomlDescription},
	{name: "setup.py", test: "pytest", build: "pip install .", describes: codeDescription},
	{name: "setup.cfg", describes: regexp.MustCompile(`^description\s*=\s*(.+)$`)},
	{name: "pkg-info", describes: regexp.MustCompile(`^Summary:\s*(.+)$`)},
	{name: "metadata", describes: regexp.MustCompile(`^Summary:\s*(.+)$`)},
	{name: "requirements*.txt", needs: regexp.MustCompile(`^([A-Za-z0-9_][\w.-]*)`), test: "pytest"},
	{name: "gemfile", needs: regexp.MustCompile(`^gem\s+["']([^"']+)`), build: "bundle install"},
	{name: "*.gemspec", describes: gemDescription},
	{name: "build.gradle*", needs: regexp.MustCompile(`^(?:implementation|api|compileOnly|runtimeOnly|testImplementation|kapt|annotationProcessor)\b[\s(]*["']([^"':]+:[^"':]+)`), test: "gradle test", build: "gradle build", describes: codeDescription},
	{name: "pom.xml", heading: regexp.MustCompile(`^</?(?:dependency|plugin|parent|build)>`), sections: regexp.MustCompile(`^<dependency>`), needs: regexp.MustCompile(`^<artifactId>([^<]+)`), test: "mvn test", build: "mvn package", describes: xmlDescription},
	{name: "*.csproj", needs: regexp.MustCompile(`^<PackageReference\s+Include="([^"]+)`), test: "dotnet test", build: "dotnet build", describes: xmlDescription},
	{name: "mix.exs", needs: regexp.MustCompile(`^\{:(\w+),`), test: "mix test", build: "mix compile", describes: codeDescription},
	{name: "package.swift", needs: regexp.MustCompile(`^\.package\(.*url:\s*"([^"]+)`), test: "swift test", build: "swift build"},
	{name: "cmakelists.txt", test: "ctest --test-dir build", has: regexp.MustCompile(`(?i)\b(?:enable_testing|add_test)\s*\(|include\(\s*CTest\s*\)`), needs: regexp.MustCompile(`(?i)^find_package\(\s*(\w+)`), build: "cmake -S . -B build && cmake --build build", describes: regexp.MustCompile(`\bDESCRIPTION\s+"(.+?)"`)},
	{name: "meson.build", test: "meson test -C build", build: "meson setup build && ninja -C build"},
	{name: "*.cabal", build: "cabal build", test: "cabal test", describes: regexp.MustCompile(`(?i)^synopsis:\s*(.+)$`)},
	{name: "package.yaml", describes: regexp.MustCompile(`^synopsis:\s*(.+)$`)},
	{name: "stack.yaml", build: "stack build", test: "stack test"},
	{name: "dune-project", build: "dune build", test: "dune test", describes: regexp.MustCompile(`^\(synopsis\s+"?(.+?)"?\)`)},
	{name: "build.zig", build: "zig build", test: "zig build test"},
	{name: "pubspec.yaml", build: "dart pub get", test: "dart test", describes: yamlDescription},
	{name: "dockerfile", build: "docker build ."},
	{name: "docker-compose.y*ml", run: "docker compose up"},
	{name: "compose.y*ml", run: "docker compose up"},
	{name: "package.json"},  // read as JSON
	{name: "composer.json"}, // likewise
	{name: "makefile"},      // has commands alone, as those below
	{name: "gnumakefile"},
	{name: "justfile"},
	{name: "taskfile.y*ml"},
	{name: "rakefile"},
	{name: "module.bazel", test: "bazel test //...", build: "bazel build //..."},
	{name: "workspace.bazel", test: "bazel test //...", build: "bazel build //..."},
	{name: "workspace", test: "bazel test //...", build: "bazel build //..."},
	{name: "tox.ini", test: "tox"},
	{name: "noxfile.py", test: "nox"},
	{name: "build.sbt", test: "sbt test", build: "sbt compile"},
	{name: "project.clj", test: "lein test", build: "lein compile"},
	{name: "rebar.config", test: "rebar3 eunit", build: "rebar3 compile"},
	{name: "gleam.toml", test: "gleam test", build: "gleam build", describes: tomlDescription},
	{name: "shard.yml", test: "crystal spec", build: "shards build", describes: yamlDescription},
	{name: "configure.ac", test: "make check", build: "./configure && make"},
	{name: "deno.json*", test: "deno test"},
}

// kindOf is the kind of a manifest, nil for any other file.
func kindOf(name string) *kind {
	base := strings.ToLower(path.Base(name))
	for i := range kinds {
		if ok, _ := path.Match(kinds[i].name, base); ok {
			return &kinds[i]
		}
	}
	return nil
}

// manifests reads what the packages need and how they are run. Those near the root come
// first.
func (m *maker) manifests(files []workspace.File) error {
	var list []workspace.File
	for _, f := range files {
		if t, auxiliary := retrieval.TypeOf(f.Name); kindOf(f.Name) != nil && t != retrieval.TypeTest && !auxiliary {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b workspace.File) int { return strings.Count(a.Name, "/") - strings.Count(b.Name, "/") })
	for _, f := range list[:min(maxManifests, len(list))] {
		if m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		text, err := m.text(f.Path)
		if err != nil {
			continue // gone, or left out by now
		}
		k := kindOf(f.Name)
		lines := strings.Split(text, "\n")
		m.describe(k, f.Name, lines)
		switch k.name {
		case "package.json", "composer.json":
			m.script(f.Name, text, lines)
		case "makefile", "gnumakefile":
			m.targets(f.Name, "make", target, lines)
		case "justfile":
			m.targets(f.Name, "just", recipe, lines)
		case "taskfile.y*ml":
			m.targets(f.Name, "task", task, lines)
		case "rakefile":
			m.targets(f.Name, "rake", rakeTask, lines)
		default:
			m.need(k, f.Name, lines)
		}
	}
	m.integration(files)
	return nil
}

// maxNeeds is how many needs of one manifest are noted: each is looked for among the others.
const maxNeeds = 300

// need notes what a manifest says line by line.
func (m *maker) need(k *kind, name string, lines []string) {
	found := Manifest{Place: Place{Path: name}}
	inside := k.sections == nil
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if k.heading != nil && k.heading.MatchString(line) {
			inside = k.sections.MatchString(line)
		}
		if k.needs == nil || !inside || strings.HasSuffix(line, "// indirect") || strings.HasPrefix(line, "#") {
			continue
		}
		// The list's own key reads like a need of it.
		if match := k.needs.FindStringSubmatch(line); match != nil && match[1] != "dependencies" && len(found.Needs) < maxNeeds && !slices.Contains(found.Needs, match[1]) {
			found.Needs = append(found.Needs, match[1])
			found.Start, found.End = cmp.Or(found.Start, i+1), i+1
		}
	}
	if found.Needs != nil {
		m.Manifests = append(m.Manifests, found)
	}
	m.usual(k, name, lines)
}

// usual notes how such a package is tested, built and run where nothing says otherwise. Only
// the first of a kind says how it is built: there may be one in every folder.
func (m *maker) usual(k *kind, name string, lines []string) {
	dir := path.Dir(name)
	add := func(command, does string) {
		tool, rest, _ := strings.Cut(command, " ")
		if wrapper := wrappers[tool]; wrapper != "" && m.isThere(path.Join(dir, wrapper)) {
			command = "./" + wrapper + " " + rest
		}
		m.Commands = append(m.Commands, Note{Place{name, 1, len(lines)}, inFolder(dir, command) + " " + does + ", as usual where there is such a file"})
	}
	if k.test != "" && m.tests(dir) && (k.has == nil || slices.ContainsFunc(lines, k.has.MatchString)) {
		add(k.test, runsTests)
	}
	if m.built[k.name] || !m.hasCode(dir) {
		return
	}
	if k.build != "" {
		add(k.build, buildsIt)
	}
	if k.name == "cargo.toml" && m.isThere(path.Join(dir, "src/main.rs")) {
		add("cargo run", runsIt)
	}
	if k.run != "" {
		add(k.run, runsIt)
	}
	m.built[k.name] = true
}

// What a command does, as its text says.
const (
	runsTests = "runs the tests"
	buildsIt  = "builds it"
	runsIt    = "runs it"
)

// wrappers are the scripts that build tools put into a repository, by the tool.
var wrappers = map[string]string{"gradle": "gradlew", "mvn": "mvnw"}

func (m *maker) isThere(name string) bool {
	return slices.ContainsFunc(m.byDir[path.Dir(name)], func(f workspace.File) bool { return f.Name == name })
}

// hasCode answers whether code lies below a folder: a manifest that went along with an archive
// builds nothing.
func (m *maker) hasCode(dir string) bool {
	for at, files := range m.byDir {
		if dir != "." && at != dir && !strings.HasPrefix(at, dir+"/") {
			continue
		}
		if slices.ContainsFunc(files, func(f workspace.File) bool { return isCode(lang.Detect(f.Name, nil)) }) {
			return true
		}
	}
	return false
}

// tests answers whether files below a folder test.
func (m *maker) tests(dir string) bool {
	return slices.ContainsFunc(m.TestFolders, func(c Count) bool {
		return dir == "." || c.Name == dir || strings.HasPrefix(c.Name, dir+"/")
	})
}

// inFolder is a command as it is given at the top.
func inFolder(dir, command string) string {
	if dir == "." {
		return "`" + command + "`"
	}
	return "`" + command + "` in " + dir
}

// script notes what a JSON manifest says: dependencies, scripts and where the package is
// entered.
func (m *maker) script(name, text string, lines []string) {
	var p struct {
		Dependencies, DevDependencies, PeerDependencies map[string]any
		Require                                         map[string]any
		RequireDev                                      map[string]any `json:"require-dev"`
		Scripts                                         map[string]any
		PackageManager                                  string
		Main, Module, Description                       string
		Bin                                             any
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return
	}
	// lineOf is where a key stands, behind the line of the object it is in.
	lineOf := func(key, in string) int {
		from := 0
		if in != "" {
			from = max(0, slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"`+in+`"`) }))
		}
		return from + 1 + max(0, slices.IndexFunc(lines[from:], func(l string) bool { return strings.Contains(l, `"`+key+`"`) }))
	}
	for _, group := range []struct {
		key  string
		list map[string]any
	}{{"dependencies", p.Dependencies}, {"peerDependencies", p.PeerDependencies}, {"devDependencies", p.DevDependencies}, {"require", p.Require}, {"require-dev", p.RequireDev}} {
		if len(group.list) == 0 {
			continue
		}
		found := Manifest{Place: Place{Path: name, Start: lineOf(group.key, "")}, Needs: slices.Sorted(maps.Keys(group.list))[:min(maxNeeds, len(group.list))]}
		found.End = found.Start
		for _, n := range found.Needs {
			found.End = max(found.End, lineOf(n, group.key))
		}
		m.Manifests = append(m.Manifests, found)
	}
	if said := oneLine(p.Description); said != "" {
		at := lineOf("description", "")
		m.described = append(m.described, Note{Place{name, at, at}, said})
	}
	tool := m.scriptsBy(name, p.PackageManager)
	for _, s := range []string{"start", "dev", "serve", "build", "test", "tests", "phpunit", "lint"} {
		if command := scriptOf(p.Scripts[s]); command != "" {
			at := lineOf(s, "scripts")
			m.Commands = append(m.Commands, Note{Place{name, at, at}, inFolder(path.Dir(name), tool+" run "+s) + " runs " + oneLine(command)})
		}
	}
	entry := func(key, file string) {
		if file != "" {
			at := lineOf(key, "")
			m.Entries = append(m.Entries, Note{Place{name, at, at}, key + ": " + file})
		}
	}
	entry("main", p.Main)
	entry("module", p.Module)
	switch bin := p.Bin.(type) {
	case string:
		entry("bin", bin)
	case map[string]any:
		for _, program := range slices.Sorted(maps.Keys(bin)) {
			if file, ok := bin[program].(string); ok && len(m.Entries) < maxEntries {
				at := lineOf(program, "bin")
				m.Entries = append(m.Entries, Note{Place{name, at, at}, "program " + program + ": " + file})
			}
		}
	}
}

// scriptOf is what a script runs, which is a list where several commands are run.
func scriptOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case []any:
		var all []string
		for _, one := range v {
			if s, ok := one.(string); ok {
				all = append(all, s)
			}
		}
		return strings.Join(all, " && ")
	}
	return ""
}

// scriptsBy is the tool that runs the scripts of a manifest: the one that it or what lies above it
// names.
func (m *maker) scriptsBy(name, named string) string {
	if path.Base(name) == "composer.json" {
		return "composer"
	}
	dir := path.Dir(name)
	if tool, _, _ := strings.Cut(named, "@"); tool == "pnpm" || tool == "yarn" || tool == "bun" || tool == "npm" {
		m.managers[dir] = tool
	}
	for {
		switch {
		case m.managers[dir] != "":
			return m.managers[dir]
		case m.isThere(path.Join(dir, "pnpm-workspace.yaml")):
			return "pnpm"
		case m.isThere(path.Join(dir, ".yarnrc.yml")):
			return "yarn"
		case m.isThere(path.Join(dir, "bunfig.toml")):
			return "bun"
		case dir == ".":
			return "npm"
		}
		dir = path.Dir(dir)
	}
}

var (
	target = regexp.MustCompile(`^([a-z][\w-]*)\s*:(?:[^=]|$)`)
	recipe = regexp.MustCompile(`^@?([a-z][\w-]*)(?:\s+[^:=]*)?:(?:[^=]|$)`)
	task   = regexp.MustCompile(`^  ([a-z][\w:-]*):\s*$`)
	// What rake makes a task of by itself is called as it is where nothing else is said.
	rakeTask = regexp.MustCompile(`^\s*(?:task\s*\(?\s*[:"']?([a-z]\w*)|(?:\w+::)*(?:TestTask|RakeTask)\.new(?:\(?\s*[:"'](\w+))?)`)
)

// maxTargets is how many targets of one Makefile are noted beside those that build and test.
const maxTargets = 12

// targets notes the targets of a Makefile and of its like: what a tool is told to do.
func (m *maker) targets(name, tool string, is *regexp.Regexp, lines []string) {
	n, noted := 0, map[string]bool{"default": tool == "rake"}
	for i, line := range lines {
		match := is.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		called := match[1]
		if tool == "rake" && called == "" {
			called = cmp.Or(match[2], "test")
			if match[2] == "" && strings.Contains(line, "RSpec") {
				called = "spec"
			} else if match[2] == "" && !strings.Contains(line, "TestTask") {
				continue // of something else, as of a linter
			}
		}
		if noted[called] {
			continue
		}
		plain := slices.Contains(doing[retrieval.TopicTests], called) || slices.Contains(doing[retrieval.TopicBuild], called)
		if !plain && n == maxTargets {
			continue
		}
		noted[called] = true
		if !plain {
			n++
		}
		what := inFolder(path.Dir(name), tool+" "+called)
		if _, comment, ok := strings.Cut(line, "## "); ok {
			what += ": " + oneLine(comment)
		}
		m.Commands = append(m.Commands, Note{Place{name, i + 1, i + 1}, what})
	}
}
