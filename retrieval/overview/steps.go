package overview

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"quarry/retrieval"
)

// A step of continuous integration says how a project is tested or built, but most of what stands
// in its files does something else: it prints, installs, checks the layout of code. So a command
// counts by the program that it runs and not by the words that stand in it.

const (
	// maxSteps is how many lines of a file of continuous integration are read.
	maxSteps = 4000
	// maxCommand is how many bytes of a command that goes on over lines are joined, and maxWords
	// how many of its words are read: what it does stands at its beginning. A repository may
	// have commands without end, and programs that run programs a million times over.
	maxCommand = 8 << 10
	maxWords   = 64
)

// testers run tests whatever they are given.
var testers = set("pytest", "py.test", "tox", "nox", "rspec", "jest", "vitest", "mocha", "ava", "ctest", "phpunit", "simple-phpunit", "pest", "bats", "prove", "busted",
	"gotestsum", "unittest", "karma", "cypress", "playwright", "cucumber", "trial", "elm-test", "nextest", "japa", "minitest", "kaocha")

// builders build whatever they are given.
var builders = set("tsc", "webpack", "rollup", "ninja", "msbuild", "xcodebuild", "ant")

// tools do what their first words say.
var tools = set("go", "cargo", "cross", "npm", "pnpm", "pn", "yarn", "bun", "deno", "make", "gmake", "nmake", "rake", "gradle", "gradlew", "mvn", "mvnw", "dotnet", "mix", "swift", "zig", "sbt", "lein",
	"stack", "cabal", "dune", "opam", "bazel", "bazelisk", "just", "task", "composer", "meson", "flutter", "dart", "hatch", "poetry", "pdm", "rye", "invoke", "nx", "turbo", "lerna", "moon", "rebar3",
	"gleam", "crystal", "shards", "nimble", "dub", "docker", "nix", "buck2", "pants", "xcodebuild", "vite", "mise", "clojure", "clj", "julia", "ng", "vue-cli-service", "esbuild")

// makers build if they are given no target.
var makers = set("make", "gmake", "nmake", "ninja")

// before are words that stand before the program of a command.
var before = set("if", "then", "else", "elif", "while", "until", "do", "{", "(", "sudo", "time", "exec", "command", "env", "nice", "xvfb-run", "winpty", "npx", "bunx", "pnpx", "coverage", "stdbuf", "eatmydata", "retry", "timeout")

// runners run the program behind them, after the word that says so.
var runners = map[string]string{"bundle": "exec", "uv": "run", "uvx": "", "poetry": "run", "pdm": "run", "hatch": "run", "pipenv": "run", "rye": "run", "pixi": "run", "yarn": "exec", "pnpm": "exec", "npm": "exec"}

// interpreters run the script that they are given.
var interpreters = set("sh", "bash", "zsh", "python", "python3", "python2", "py", "node", "ruby", "perl", "php", "pwsh", "powershell", "pypy3", "Rscript", "lua", "vim", "nvim", "emacs")

var (
	assignment = regexp.MustCompile(`^[A-Za-z_]\w*=`)
	// What tests and builds is a word of its own in a target or in the name of a script.
	testWord  = regexp.MustCompile(`(?i)(?:^|[-_:./]|run)(?:tests?|specs?|unittests?|integrationtests?|nativetest|phpunit)(?:$|[-_:.])`)
	buildWord = regexp.MustCompile(`(?i)(?:^|[-_:./])(?:build|compile|assemble|package|bundle|dist)(?:$|[-_:.])`)
	program   = regexp.MustCompile(`^[\w./@+-]+$`)
	// expansion is a value that continuous integration fills in.
	expansion = regexp.MustCompile(`\$\{\{.*?\}\}`)
	heredoc   = regexp.MustCompile(`<<-?\s*["']?([A-Za-z_]+)["']?`)
)

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// serves answers whether a line of a shell does what a topic asks for.
func serves(t retrieval.Topic, line string) bool {
	line = expansion.ReplaceAllString(line, "value")
	for _, simple := range strings.FieldsFunc(strings.NewReplacer("&&", ";", "||", ";").Replace(line), func(r rune) bool { return r == ';' || r == '|' }) {
		words := strings.Fields(simple)
		if servesSimple(t, words[:min(len(words), maxWords)]) {
			return true
		}
	}
	return false
}

// servesSimple is serves for the words of one command.
func servesSimple(t retrieval.Topic, words []string) bool {
	for i := range words {
		words[i] = strings.Trim(words[i], `"'`)
	}
	if len(words) > 0 && words[0] == "!" {
		return false // it is to fail
	}
	for len(words) > 0 && (before[words[0]] || assignment.MatchString(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 || !program.MatchString(words[0]) {
		return false
	}
	name, args := path.Base(words[0]), words[1:]
	if then, ok := runners[name]; ok {
		switch {
		case then == "":
			return servesSimple(t, args)
		case len(args) > 1 && args[0] == then:
			rest := args[1:]
			for len(rest) > 1 && strings.HasPrefix(rest[0], "-") {
				rest = rest[1:]
			}
			if servesSimple(t, rest) {
				return true
			}
		}
	}
	if interpreters[name] && len(args) > 0 {
		switch {
		case args[0] == "-m" && len(args) > 1:
			if t == retrieval.TopicBuild && args[1] == "build" {
				return true
			}
			return servesSimple(t, args[1:])
		case strings.HasPrefix(args[0], "-"):
			return false
		}
		return isScript(args[0]) && isFor(t, args[0])
	}
	for _, given := range words { // what is installed or taken away is not run
		if given == "install" || given == "add" || given == "ci" || given == "get" || given == "--version" || given == "--help" {
			return t == retrieval.TopicBuild && makers[name] && slices.ContainsFunc(args, func(a string) bool { return a == "all" || buildWord.MatchString(a) })
		}
	}
	switch known := testers; {
	case t == retrieval.TopicTests && known[name]:
		return true
	case t == retrieval.TopicBuild && builders[name]:
		return !slices.ContainsFunc(args, func(a string) bool { return testWord.MatchString(a) })
	case name == "cmake":
		return t == retrieval.TopicBuild && len(args) > 0 && args[0] == "--build" && !slices.ContainsFunc(args, isCheck)
	case tools[name]:
		return servesTool(t, name, args)
	}
	return strings.Contains(words[0], "/") && isScript(words[0]) && isFor(t, words[0])
}

func isCheck(arg string) bool { return arg == "check" || testWord.MatchString(arg) }

// isScript answers whether a word may name a program of the repository.
func isScript(word string) bool { return program.MatchString(word) && !strings.HasPrefix(word, "-") }

// isFor answers whether the name of a script says what a topic asks for.
func isFor(t retrieval.Topic, script string) bool {
	base := path.Base(script)
	if t == retrieval.TopicTests {
		return testWord.MatchString(base)
	}
	return buildWord.MatchString(base) && !testWord.MatchString(base)
}

// servesTool reads what a tool is told to do: its first words that are no options. What a file
// is called says nothing.
func servesTool(t retrieval.Topic, name string, args []string) bool {
	targets := 0
	for i, a := range args {
		if strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+") || assignment.MatchString(a) || i > 0 && (args[i-1] == "-C" || args[i-1] == "-f" || args[i-1] == "-j" || args[i-1] == "-F") {
			continue
		}
		if a == "run" || a == "exec" || a == "vet" && name != "go" {
			continue
		}
		targets++
		if strings.ContainsAny(a, "/.") || targets > 3 {
			break
		}
		if strings.HasPrefix(name, "gradle") { // behind the project that it is of
			a = a[strings.LastIndexByte(a, ':')+1:]
		}
		switch {
		case testWord.MatchString(a) || a == "check" && (makers[name] || strings.HasPrefix(name, "gradle")) || testers[a] && t == retrieval.TopicTests:
			return t == retrieval.TopicTests
		case t == retrieval.TopicBuild && (buildWord.MatchString(a) || makers[name] && a == "all"):
			return true
		case targets == 1 && !makers[name] && !strings.HasPrefix(name, "gradle") && !strings.HasPrefix(name, "mvn") && name != "lein" && name != "mix" && name != "nx":
			return false // another thing that the tool does
		}
	}
	return t == retrieval.TopicBuild && targets == 0 && makers[name]
}

// runKey is the key of a step's command, with the command if it stands on the line.
var runKey = regexp.MustCompile(`^(\s*(?:-\s+)?)(?:run|script):\s*(.*)$`)

// stepOf is the first command of a file of continuous integration that does what a topic asks
// for, with its line from 1; 0 if there is none. One without anything filled in is preferred.
func stepOf(t retrieval.Topic, lines []string) (line int, command string) {
	at, said := 0, ""
	eachStep(lines[:min(maxSteps, len(lines))], func(i int, text string) bool {
		if strings.HasPrefix(text, "#") || !serves(t, text) {
			return true
		}
		if filled := strings.Contains(text, "${{"); at == 0 || !filled {
			at, said = i+1, text
			return filled
		}
		return true
	})
	return at, said
}

// eachStep calls each for the commands of a file of continuous integration, with the line they
// begin on from 0, until it answers false. What goes on in the next line is one command, and what a
// command is given to read is none.
func eachStep(lines []string, each func(line int, command string) bool) {
	block, folded := -1, false // how far the key of a block of commands is indented
	from, joined, until := 0, "", ""
	flush := func() bool {
		text := joined
		joined = ""
		return text == "" || each(from, text)
	}
	for i, l := range lines {
		trimmed := strings.TrimSpace(l)
		indent := len(l) - len(strings.TrimLeft(l, " "))
		if block >= 0 && trimmed != "" && indent <= block {
			block, until = -1, ""
			if !flush() {
				return
			}
		}
		if block < 0 {
			match := runKey.FindStringSubmatch(l)
			if match == nil {
				continue
			}
			value := strings.TrimSpace(match[2])
			switch {
			case value == "" || strings.ContainsAny(value[:1], "|>"):
				block, folded = len(match[1]), strings.HasPrefix(value, ">")
			case !each(i, strings.Trim(value, `"'`)):
				return
			}
			continue
		}
		if until != "" {
			if trimmed == until {
				until = ""
			}
			continue
		}
		if trimmed == "" {
			continue
		}
		if joined == "" {
			from = i
		}
		more := strings.HasSuffix(trimmed, `\`)
		if len(joined) < maxCommand {
			joined = strings.TrimSpace(joined + " " + strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(trimmed, "- "), `\`)))
		}
		if match := heredoc.FindStringSubmatch(trimmed); match != nil {
			until = match[1]
		}
		if !more && !folded && !flush() {
			return
		}
	}
	flush()
}
