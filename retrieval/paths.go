package retrieval

import (
	"path"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/token"
)

// fileClass is what the path of a file says about how much it answers questions.
type fileClass uint16

const (
	classTest fileClass = 1 << iota
	classExample
	classCompat    // legacy, compatibility, deprecated
	classFace      // re-exports what other files hold: index.ts, mod.rs, __init__.py
	classTypes     // .d.ts, .pyi and the like: declarations without code
	classGenerated // written by a program
	classVendored
	classBench
	classDoc // prose
	classConfig
	classForeign // for another operating system than the index's
	classStyle   // style sheets
	classMarkup  // pages and pictures as text
	classWrapper // scripts that a build tool brings along: gradlew, configure
	classTwin    // written by a compiler from other files of the tree
)

// fileClasses say of each class, in the order of their bits, what lowers the score of its
// files: a factor, unless the query asks for them (analyzed.wanted). The development
// split speaks for lowering tests (.014), compatibility code (.005), files for another
// platform (.005), documentation (.004), type declarations (.002) and configuration
// (.001); it has no vendored, generated or example files to speak of, whose factors are
// those of their like.
var fileClasses = [...]struct {
	name   string
	factor float32
}{
	{"test", .3}, {"example", .3}, {"compatibility code", .3}, {"package face", .5}, {"type declarations", .7}, {"generated", .5}, {"vendored", .3},
	{"benchmark", .3}, {"documentation", .4}, {"configuration", .4}, {"another platform", .6},
	{"style sheet", .3}, {"markup", .3}, {"wrapper script", .3}, {"compiled", .3},
}

// penalty is what the score of a file is multiplied by.
func (r fileClass) penalty(wanted fileClass) float32 {
	p := float32(1)
	for bit := range fileClasses {
		if r&^wanted>>bit&1 != 0 {
			p *= fileClasses[bit].factor
		}
	}
	return p
}

// String names the classes.
func (r fileClass) String() string {
	var names []string
	for bit := range fileClasses {
		if r>>bit&1 != 0 {
			names = append(names, fileClasses[bit].name)
		}
	}
	return strings.Join(names, ", ")
}

// pathWords are the parts of a path that carry meaning, cut and stemmed.
type pathWords struct {
	name []string // words of the base name without extension
	dirs []string // words of the last dirDepth folders, no word twice
	base string   // the base name without extension, lower case, no separators
}

// dirDepth is how many folders above a file count; those further up say where a
// project keeps things rather than what they are.
const dirDepth = 3

func wordsOfPath(a *token.Analyzer, p string) pathWords {
	dir, name := path.Split(p)
	name = strings.TrimPrefix(name, ".")
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = strings.TrimSuffix(name[:i], ".d")
	}
	parts := strings.FieldsFunc(dir, func(r rune) bool { return r == '/' })
	if faceNames[strings.ToLower(name)] && len(parts) > 0 {
		// ser/mod.rs is known as ser.
		name = parts[len(parts)-1]
		parts = parts[:len(parts)-1]
	}
	w := pathWords{base: flatName(name)}
	w.name = stemmedWords(a, nil, name)
	if len(parts) > dirDepth {
		parts = parts[len(parts)-dirDepth:]
	}
	for _, part := range parts {
		w.dirs = stemmedWords(a, w.dirs, part)
	}
	return w
}

// stemmedWords appends the distinct stems of the words of an identifier.
func stemmedWords(a *token.Analyzer, dst []string, identifier string) []string {
	for _, word := range a.Words(nil, identifier) {
		if s := a.Stem(word); !slices.Contains(dst, s) {
			dst = append(dst, s)
		}
	}
	return dst
}

// flatName is a name without separators and sigils in lower case: what a user may
// type for it.
func flatName(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' || r == '$' {
			return -1
		}
		return r
	}, s))
}

var (
	testDirs    = setOf("test", "tests", "testing", "__tests__", "spec", "specs", "testdata", "fixtures", "__fixtures__", "mocks", "__mocks__", "testutil", "test_suite", "e2e", "testsuite", "test-utils")
	exampleDirs = setOf("example", "examples", "sample", "samples", "demo", "demos", "docs_src", "tutorial", "tutorials", "playground")
	compatDirs  = setOf("compat", "compatibility", "legacy", "deprecated", "_compat", "old", "v0", "polyfill", "polyfills", "shim", "shims")
	benchDirs   = setOf("bench", "benches", "benchmark", "benchmarks", "perf", "jmh")
	vendorDirs  = setOf("vendor", "vendored", "third_party", "thirdparty", "external", "deps", "node_modules")
	docDirs     = setOf("doc", "docs", "documentation")
	faceNames   = facesAnd("__main__", "main", "package", "package-info", "exports", "module-info", "prelude", "all", "setup")
	// styleExts and markupExts are what a page looks like and what it has in it.
	styleExts  = setOf(".css", ".scss", ".sass", ".less", ".styl", ".pcss")
	markupExts = setOf(".html", ".htm", ".xhtml", ".svg")
	// wrapperNames are scripts that build tools write into a repository.
	wrapperNames = setOf("gradlew", "gradlew.bat", "mvnw", "mvnw.cmd", "configure", "config.guess", "config.sub", "ltmain.sh", "install-sh", "depcomp", "test-driver", "aclocal.m4")
	// docExts and docNames are prose that no language in the table has.
	docExts  = setOf(".asc", ".pod", ".info", ".texi", ".man", ".mdoc", ".roff", ".ronn", ".textile", ".wiki", ".topic")
	docNames = setOf("license", "licence", "copying", "notice", "authors", "contributors", "changelog", "changes", "news", "release_notes", "readme", "todo")
	// configExts are those of files that configure or record something. Terraform's, which are
	// configuration in the table of languages, are what their repository is made of.
	configExts = setOf(".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".xml", ".lock", ".gradle", ".cmake", ".mod", ".sum", ".env", ".plist", ".editorconfig",
		".hjson", ".json5", ".jsonc", ".canvas", ".csv", ".tsv", ".dsv", ".po", ".pot", ".sln", ".csproj", ".props")
)

// facesAnd are the files that stand for their folder in any language, and some more.
func facesAnd(names ...string) map[string]bool {
	for _, l := range lang.All() {
		names = append(names, l.EntryFiles...)
	}
	return setOf(names...)
}

func setOf(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// classOf reads the classes of a file from its path and the head of its text.
func classOf(p, text string) fileClass {
	var r fileClass
	lower := strings.ToLower(p)
	dir, base := path.Split(lower)
	for _, part := range strings.FieldsFunc(dir, func(c rune) bool { return c == '/' }) {
		switch {
		case testDirs[part]:
			r |= classTest
		case exampleDirs[part]:
			r |= classExample
		case compatDirs[part]:
			r |= classCompat
		case benchDirs[part]:
			r |= classBench
		case vendorDirs[part]:
			r |= classVendored
		case docDirs[part]:
			r |= classDoc
		}
	}
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	language := lang.OfExtension(ext)
	isProse := language != nil && language.Content == lang.Prose || isDocument(base, stem, ext)
	if lang.IsTest(p) {
		r |= classTest
	}
	if compatDirs[stem] {
		r |= classCompat
	}
	switch {
	case strings.HasSuffix(base, ".d.ts") || ext == ".pyi":
		r |= classTypes
	case isProse:
		r |= classDoc
	case styleExts[ext]:
		r |= classStyle
	case markupExts[ext]:
		r |= classMarkup
	case wrapperNames[base]:
		r |= classWrapper
	case configExts[ext] || base == "makefile" || base == "dockerfile" || strings.HasPrefix(base, "."):
		r |= classConfig
	}
	if faceNames[stem] && r&classConfig == 0 && !isProse {
		r |= classFace
	}
	if r&classDoc != 0 && !isProse {
		r &^= classDoc
	}
	if generated(text) || strings.HasSuffix(stem, ".pb") || strings.HasSuffix(stem, ".min") || strings.HasSuffix(stem, ".g") || strings.HasSuffix(stem, "_generated") {
		r |= classGenerated
	}
	return r
}

// isDocument answers whether a file is prose by a name in lower case that no language in the
// table has: manual pages are called name.1.
func isDocument(base, stem, ext string) bool {
	if docExts[ext] || docNames[base] {
		return true
	}
	isPage := len(ext) >= 2 && '1' <= ext[1] && ext[1] <= '9' && (len(ext) == 2 || len(ext) == 3 && 'a' <= ext[2] && ext[2] <= 'z')
	return isPage && stem != "" && !strings.Contains(stem, ".") && (stem[len(stem)-1] < '0' || stem[len(stem)-1] > '9')
}

// generated looks for the marker that generators write, in the first lines
// only: further down it is code about generators.
func generated(text string) bool {
	if len(text) > 1000 {
		text = text[:1000]
	}
	return strings.Contains(text, "Code generated by ") || strings.Contains(text, "@generated") || strings.Contains(text, "DO NOT EDIT")
}

// TypeOf is what a file is by its path, and whether it only helps: an example, a benchmark, what
// is vendored, kept for compatibility or generated.
func TypeOf(path string) (t Type, auxiliary bool) {
	r := classOf(path, "")
	return r.typeOf(), r&(classExample|classBench|classVendored|classCompat|classGenerated) != 0
}

// typeOf maps classes to the filter type:.
func (r fileClass) typeOf() Type {
	switch {
	case r&classTest != 0:
		return TypeTest
	case r&classDoc != 0:
		return TypeDoc
	case r&(classStyle|classMarkup) != 0:
		return TypeMarkup
	case r&(classConfig|classWrapper) != 0:
		return TypeConfig
	}
	return TypeCode
}

// platformNames are the operating systems that folders and file names speak of,
// each with those of runtime.GOOS it serves.
var platformNames = map[string][]string{
	"windows": {"windows"}, "win": {"windows"}, "win32": {"windows"}, "win64": {"windows"}, "msvc": {"windows"},
	"darwin": {"darwin"}, "macos": {"darwin"}, "osx": {"darwin"}, "ios": {"ios", "darwin"}, "kqueue": {"darwin", "freebsd", "netbsd", "openbsd"},
	"fsevents": {"darwin"}, "linux": {"linux"}, "epoll": {"linux"}, "inotify": {"linux"}, "procfs": {"linux"}, "android": {"android", "linux"},
	"unix": {"linux", "darwin", "freebsd", "netbsd", "openbsd", "dragonfly", "solaris", "aix"}, "posix": {"linux", "darwin", "freebsd", "netbsd", "openbsd"},
	"freebsd": {"freebsd"}, "openbsd": {"openbsd"}, "netbsd": {"netbsd"}, "bsd": {"darwin", "freebsd", "netbsd", "openbsd"},
	"sunos": {"solaris"}, "solaris": {"solaris"}, "aix": {"aix"}, "os390": {"zos"}, "ibmi": {"aix"}, "haiku": {"haiku"}, "cygwin": {"windows"}, "hurd": {"hurd"},
	"qnx": {"qnx"}, "wasi": {"wasip1"}, "wasm": {"js", "wasip1"},
}

// foreign answers whether a path speaks of operating systems, and of none that
// is goos.
func foreign(a *token.Analyzer, p, goos string) bool {
	other := false
	for _, word := range a.Words(nil, p) {
		serves, ok := platformNames[word]
		if slices.Contains(serves, goos) {
			return false
		}
		other = other || ok
	}
	return other
}
