package syntax

import (
	"bytes"
	"path"
	"strings"
)

// PlainText is the language of a file that nothing else is known of.
const PlainText = "plaintext"

// Detect returns the language of a file, as the LSP's language identifier
// where it has one: by the file's name, its extension, the interpreter of its
// first line, in this order, and PlainText if none of them tells. head is the
// start of the file; 512 bytes are enough for all but headers, which may be C or
// C++ and tell within some 8,000. It may be nil.
func Detect(name string, head []byte) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if l, ok := languageByName[base]; ok {
		return l
	}
	if strings.HasPrefix(base, "Dockerfile.") || strings.HasPrefix(base, "Containerfile.") {
		return "dockerfile"
	}
	switch ext := strings.ToLower(path.Ext(base)); ext {
	case "":
	case ".h":
		return headerLanguage(head)
	case ".ts":
		// Qt's translation files share the extension and are XML.
		if bytes.HasPrefix(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"), []byte("<?xml")) {
			return "xml"
		}
		return "typescript"
	default:
		if l, ok := languageByExtension[ext[1:]]; ok {
			return l
		}
	}
	if l := shebangLanguage(head); l != "" {
		return l
	}
	return PlainText
}

// headerLanguage tells a C++ header from a C one by words that C lacks.
func headerLanguage(head []byte) string {
	for line := range bytes.Lines(head) {
		line = bytes.TrimLeft(line, " \t")
		for _, word := range []string{"namespace ", "class ", "template", "using ", "public:", "private:", "enum class ", "constexpr ", "inline auto ",
			"#include <string>", "#include <vector>", "#include <memory>", "#include <type_traits>", "#include <cstd"} {
			if bytes.HasPrefix(line, []byte(word)) {
				return "cpp"
			}
		}
		if bytes.HasPrefix(line, []byte("@interface")) || bytes.HasPrefix(line, []byte("#import")) {
			return "objective-c"
		}
	}
	return "c"
}

// shebangLanguage reads "#!/usr/bin/env -S python3 -u" and its like.
func shebangLanguage(head []byte) string {
	rest, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return ""
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	for i, word := range strings.Fields(string(line)) {
		program := path.Base(word)
		if program == "env" || i > 0 && strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		return languageByInterpreter[strings.TrimRight(program, "0123456789.")]
	}
	return ""
}

var languageByName = map[string]string{
	"BUILD":               "starlark",
	"BUILD.bazel":         "starlark",
	"Brewfile":            "ruby",
	"CMakeLists.txt":      "cmake",
	"Containerfile":       "dockerfile",
	"Dockerfile":          "dockerfile",
	"GNUmakefile":         "makefile",
	"Gemfile":             "ruby",
	"Jenkinsfile":         "groovy",
	"Justfile":            "makefile",
	"Makefile":            "makefile",
	"PKGBUILD":            "shellscript",
	"Pipfile":             "toml",
	"Podfile":             "ruby",
	"Rakefile":            "ruby",
	"SConstruct":          "python",
	"Tiltfile":            "starlark",
	"Vagrantfile":         "ruby",
	"WORKSPACE":           "starlark",
	"go.mod":              "go.mod",
	"justfile":            "makefile",
	"makefile":            "makefile",
	".bash_profile":       "shellscript",
	".bashrc":             "shellscript",
	".profile":            "shellscript",
	".zshrc":              "shellscript",
	".editorconfig":       "ini",
	".gitconfig":          "ini",
	".clang-format":       "yaml",
	".babelrc":            "json",
	".eslintrc":           "json",
	"tsconfig.json":       "jsonc",
	"devcontainer.json":   "jsonc",
	"CODEOWNERS":          PlainText,
	"LICENSE":             PlainText,
	"docker-compose.yml":  "yaml",
	"docker-compose.yaml": "yaml",
}

var languageByExtension = map[string]string{
	"adoc": "asciidoc", "asciidoc": "asciidoc",
	"astro": "astro",
	"awk":   "awk",
	"bash":  "shellscript", "sh": "shellscript", "zsh": "shellscript", "ksh": "shellscript", "bats": "shellscript", "ebuild": "shellscript",
	"bat": "bat", "cmd": "bat",
	"bzl": "starlark", "star": "starlark",
	"c":  "c",
	"cc": "cpp", "cpp": "cpp", "cxx": "cpp", "c++": "cpp", "hh": "cpp", "hpp": "cpp", "hxx": "cpp", "h++": "cpp", "ipp": "cpp", "tpp": "cpp", "inl": "cpp", "ixx": "cpp", "cu": "cpp", "cuh": "cpp", "ino": "cpp",
	"cfg": "ini", "conf": "ini", "ini": "ini", "properties": "properties",
	"clj": "clojure", "cljs": "clojure", "cljc": "clojure", "edn": "clojure",
	"cmake": "cmake",
	"cr":    "crystal",
	"cs":    "csharp", "csx": "csharp",
	"css":  "css",
	"csv":  "csv",
	"d":    "d",
	"dart": "dart",
	"diff": "diff", "patch": "diff",
	"dockerfile": "dockerfile",
	"el":         "elisp", "lisp": "lisp", "scm": "scheme", "rkt": "racket", "fnl": "fennel",
	"elm": "elm",
	"erl": "erlang", "hrl": "erlang",
	"ex": "elixir", "exs": "elixir",
	"f90": "fortran", "f95": "fortran", "f03": "fortran", "f": "fortran", "for": "fortran",
	"fish":  "fish",
	"fs":    "fsharp",
	"fsi":   "fsharp",
	"fsx":   "fsharp",
	"gleam": "gleam",
	"glsl":  "glsl", "vert": "glsl", "frag": "glsl", "wgsl": "wgsl", "hlsl": "hlsl", "metal": "cpp",
	"go":      "go",
	"gql":     "graphql",
	"graphql": "graphql",
	"groovy":  "groovy", "gradle": "groovy",
	"hcl": "hcl", "tf": "hcl", "tfvars": "hcl", "nomad": "hcl",
	"hs": "haskell", "lhs": "haskell", "hsc": "haskell", "purs": "purescript",
	"htm": "html", "html": "html", "xhtml": "html",
	"java": "java",
	"jl":   "julia",
	"js":   "javascript", "cjs": "javascript", "mjs": "javascript", "es6": "javascript",
	"jsx":  "javascriptreact",
	"json": "json", "jsonl": "json", "geojson": "json", "ipynb": "json", "webmanifest": "json",
	"json5": "jsonc", "jsonc": "jsonc",
	"kt": "kotlin", "kts": "kotlin",
	"less": "less",
	"lua":  "lua", "rockspec": "lua",
	"m": "objective-c", "mm": "objective-cpp",
	"md": "markdown", "markdown": "markdown", "mdx": "markdown", "mkd": "markdown",
	"mk": "makefile", "mak": "makefile",
	"ml": "ocaml", "mli": "ocaml",
	"nim": "nim", "nims": "nim",
	"nix":  "nix",
	"odin": "odin",
	"pas":  "pascal", "pp": "pascal",
	"php": "php", "phtml": "php",
	"pl": "perl", "pm": "perl", "t": "perl",
	"proto": "proto",
	"ps1":   "powershell", "psm1": "powershell", "psd1": "powershell",
	"py": "python", "pyi": "python", "pyw": "python", "pyx": "python",
	"r":    "r",
	"rake": "ruby", "rb": "ruby", "gemspec": "ruby", "ru": "ruby",
	"rs":  "rust",
	"rst": "restructuredtext",
	"sc":  "scala", "scala": "scala", "sbt": "scala",
	"scss": "scss", "sass": "sass",
	"sol":    "solidity",
	"sql":    "sql",
	"svelte": "svelte",
	"svg":    "xml", "xml": "xml", "xsd": "xml", "xsl": "xml", "plist": "xml", "csproj": "xml", "props": "xml", "targets": "xml",
	"swift": "swift",
	"tcl":   "tcl",
	"tex":   "latex", "sty": "latex",
	"thrift": "thrift",
	"toml":   "toml",
	"tsx":    "typescriptreact", "mts": "typescript", "cts": "typescript",
	"txt": PlainText,
	"v":   "verilog", "sv": "verilog", "vhd": "vhdl", "vhdl": "vhdl",
	"vb":   "vb",
	"vim":  "viml",
	"vue":  "vue",
	"yaml": "yaml", "yml": "yaml",
	"zig": "zig", "zon": "zig",
}

var languageByInterpreter = map[string]string{
	"awk": "awk", "gawk": "awk", "mawk": "awk",
	"bash": "shellscript", "sh": "shellscript", "dash": "shellscript", "ksh": "shellscript", "zsh": "shellscript", "ash": "shellscript",
	"bun": "typescript", "deno": "typescript",
	"elixir": "elixir", "escript": "erlang",
	"fish": "fish",
	"lua":  "lua", "luajit": "lua",
	"make": "makefile",
	"node": "javascript", "nodejs": "javascript",
	"perl":   "perl",
	"php":    "php",
	"python": "python", "pypy": "python",
	"Rscript": "r",
	"ruby":    "ruby", "jruby": "ruby",
	"runghc": "haskell", "runhaskell": "haskell",
	"scala": "scala",
	"swift": "swift",
	"tclsh": "tcl",
}

// languageAlias maps names that editors and people use to the identifiers
// above.
var languageAlias = map[string]string{
	"bash":                "shellscript",
	"c++":                 "cpp",
	"c#":                  "csharp",
	"cs":                  "csharp",
	"c_sharp":             "csharp",
	"golang":              "go",
	"javascript.jsx":      "javascriptreact",
	"js":                  "javascript",
	"jsx":                 "javascriptreact",
	"make":                "makefile",
	"objc":                "objective-c",
	"protobuf":            "proto",
	"proto3":              "proto",
	"py":                  "python",
	"rb":                  "ruby",
	"rs":                  "rust",
	"sh":                  "shellscript",
	"shell":               "shellscript",
	"terraform":           "hcl",
	"terraform-vars":      "hcl",
	"text":                PlainText,
	"ts":                  "typescript",
	"tsx":                 "typescriptreact",
	"typescript.tsx":      "typescriptreact",
	"vim":                 "viml",
	"yaml.docker-compose": "yaml",
	"zsh":                 "shellscript",
}

// Canonical returns the identifier that Detect would use for a language named
// otherwise: an editor's "sh" or "tsx". Other names are returned unchanged, ""
// as PlainText.
func Canonical(language string) string {
	if language == "" {
		return PlainText
	}
	if l, ok := languageAlias[strings.ToLower(language)]; ok {
		return l
	}
	return language
}
