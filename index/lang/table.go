package lang

import "strings"

// list splits a row's words.
func list(words string) []string { return strings.Fields(words) }

// Comments that languages share.
var (
	slashes = Comment{Line: list("//"), Open: "/*", Shut: "*/"}
	hashes  = Comment{Line: list("#")}
	both    = Comment{Line: list("// #"), Open: "/*", Shut: "*/"}
	lisps   = Comment{Line: list(";")}
	tags    = Comment{Open: "<!--", Shut: "-->"}
	dashes  = Comment{Line: list("--"), Open: "{-", Shut: "-}"}
	percent = Comment{Line: list("%")}
)

// Blocks that languages share.
var (
	braces  = &Blocks{Style: Braced, Closers: list("else catch finally")}
	allman  = &Blocks{Style: Braced, Closers: braces.Closers, BraceBelow: true}
	offside = &Blocks{Style: Offside, Openers: list(":"), Closers: list("else elif except finally case")}
	markup  = &Blocks{Style: Markup}
	flat    = &Blocks{Style: Flat}
	flatEnd = &Blocks{Style: Flat, Closers: list("end")}
	ruby    = &Blocks{Style: EndWords, Heads: list("def class module if unless while until case begin for"), Openers: list("do begin then"),
		Closers: list("end else elsif when rescue ensure in"), Parameters: true}
	elixir = &Blocks{Style: EndWords, Openers: list("do -> else"), Closers: list("end else rescue after catch")}
)

// keywordsOfC are those of C, which C++ has as well.
var keywordsOfC = list("auto break case char const continue default do double else enum extern float for goto if inline int long register return short signed sizeof static struct switch typedef union unsigned void volatile while")

// What other packages can use, as languages share it.
var (
	exported       = &Public{Words: list("export"), Members: true, Prefixes: "_#", Hidden: list("private")}
	declaredPublic = &Public{Words: list("public open")}
	unlessPrivate  = &Public{Hidden: list("private protected internal")}
	unlessStatic   = &Public{Hidden: list("static")}
)

// table has a row for each language that files are told to be in, or that editors have
// documents in, in the order of the identifiers.
var table = []Language{
	{ID: "ada", Extensions: list("adb ads"), Comment: Comment{Line: list("--")}, Blocks: flatEnd},
	{ID: "asciidoc", Extensions: list("adoc asciidoc"), Content: Prose, Comment: Comment{Line: list("//")}, Blocks: flat},
	{ID: "asm", Extensions: list("asm s"), Comment: lisps, Blocks: flat},
	{ID: "astro", Extensions: list("astro"), Family: "js", Comment: tags, Blocks: markup, EntryFiles: list("index")},
	{ID: "awk", Extensions: list("awk"), Interpreters: list("awk gawk mawk"), Comment: hashes, Blocks: braces},
	{ID: "bat", Extensions: list("bat cmd"), Comment: Comment{Line: list("REM rem @rem ::")}, Blocks: flat},
	{ID: "c", Extensions: list("c h"), Family: "c", Comment: slashes, Blocks: allman, FileImports: true, Public: unlessStatic, FolderScope: true, Reserved: keywordsOfC},
	{ID: "clojure", Extensions: list("clj cljs cljc edn"), Comment: lisps, Blocks: flat},
	{ID: "cmake", Extensions: list("cmake"), Files: list("CMakeLists.txt"), Comment: hashes,
		Blocks: &Blocks{Style: Flat, Closers: list("endif else elseif endforeach endwhile endfunction endmacro endblock")}},
	{ID: "cpp", Aliases: list("cuda-cpp"), Extensions: list("cc cpp cxx c++ hh hpp hxx h++ ipp tpp inl ixx cu cuh ino metal"),
		Family: "c", Comment: slashes, Blocks: allman, FileImports: true, Public: unlessStatic, FolderScope: true,
		Reserved: append(list("catch class const_cast constexpr decltype delete dynamic_cast explicit false friend mutable namespace new noexcept nullptr operator private protected public reinterpret_cast static_cast template this throw true try typeid typename using virtual"), keywordsOfC...)},
	{ID: "crystal", Extensions: list("cr"), Comment: hashes, Blocks: ruby},
	{ID: "csharp", Aliases: list("c# c_sharp"), Extensions: list("cs csx"), Triple: `"`, Comment: slashes, Blocks: allman, Tests: TestName{Suffix: "Test"}, Public: declaredPublic, FolderScope: true},
	{ID: "css", Extensions: list("css"), Comment: Comment{Open: "/*", Shut: "*/"}, Blocks: &Blocks{Style: Braced}, FileImports: true},
	{ID: "csv", Extensions: list("csv"), Content: Config, Blocks: flat},
	{ID: "d", Extensions: list("d"), Comment: slashes, Blocks: braces},
	{ID: "dart", Extensions: list("dart"), Triple: `"'`, Comment: slashes, Blocks: braces},
	{ID: "diff", Extensions: list("diff patch"), Comment: hashes, Blocks: flat},
	{ID: "dockerfile", Extensions: list("dockerfile"), Files: list("Dockerfile Containerfile"), Content: Config, Comment: hashes, Blocks: flat},
	{ID: "elisp", Aliases: list("emacs-lisp"), Extensions: list("el"), Comment: lisps, Blocks: flat},
	{ID: "elixir", Extensions: list("ex exs"), Interpreters: list("elixir"), Triple: `"`, Comment: Comment{Line: list("#"), Quotes: list(`"""`)}, Blocks: elixir, Public: &Public{Prefixes: "_", Hidden: list("defp")}},
	{ID: "elm", Extensions: list("elm"), Comment: dashes, Blocks: flatEnd},
	{ID: "erlang", Extensions: list("erl hrl"), Interpreters: list("escript"), Comment: percent, Blocks: flat},
	{ID: "fennel", Extensions: list("fnl"), Comment: lisps, Blocks: flat},
	{ID: "fish", Extensions: list("fish"), Interpreters: list("fish"), Comment: hashes,
		Blocks: &Blocks{Style: EndWords, Heads: list("function if for while switch begin"), Closers: list("end else case")}},
	{ID: "fortran", Extensions: list("f90 f95 f03 f for"), Comment: Comment{Line: list("!")},
		Blocks: &Blocks{Style: EndWords, Openers: list("then do"), Closers: list("end else contains")}},
	{ID: "fsharp", Extensions: list("fs fsi fsx"), Comment: Comment{Line: list("//"), Open: "(*", Shut: "*)"}, Blocks: flat},
	{ID: "gdscript", Extensions: list("gd"), Comment: hashes, Blocks: offside},
	{ID: "gleam", Extensions: list("gleam"), Comment: Comment{Line: list("//")}, Blocks: braces},
	{ID: "glsl", Extensions: list("glsl vert frag"), Comment: slashes, Blocks: allman},
	{ID: "go", Aliases: list("golang"), Extensions: list("go"), Comment: slashes, Blocks: braces, Public: &Public{Capital: true}, FolderScope: true},
	{ID: "go.mod", Files: list("go.mod"), Content: Config, Comment: Comment{Line: list("//")}, Blocks: braces},
	{ID: "graphql", Extensions: list("gql graphql"), Triple: `"`, Comment: Comment{Line: list("#"), Quotes: list(`"""`)}, Blocks: braces},
	{ID: "groovy", Extensions: list("groovy gradle"), Files: list("Jenkinsfile"), Family: "jvm", Triple: `"'`, Comment: slashes, Blocks: braces},
	{ID: "haskell", Extensions: list("hs lhs hsc"), Interpreters: list("runghc runhaskell"), Comment: dashes, Blocks: flatEnd},
	{ID: "hcl", Aliases: list("terraform terraform-vars"), Extensions: list("hcl tf tfvars nomad"), Content: Config,
		Comment: Comment{Line: list("# //"), Open: "/*", Shut: "*/"}, Blocks: braces},
	{ID: "hlsl", Extensions: list("hlsl"), Comment: slashes, Blocks: allman},
	{ID: "html", Extensions: list("htm html xhtml"), Comment: tags, Blocks: markup},
	{ID: "ignore", Aliases: list("gitignore"), Files: list(".gitignore .ignore .quarryignore .dockerignore"), Content: Config, Comment: hashes, Blocks: flat},
	{ID: "ini", Extensions: list("cfg conf ini"), Files: list(".editorconfig .gitconfig"), Content: Config, Comment: Comment{Line: list("; #")}, Blocks: flat},
	{ID: "java", Extensions: list("java"), Family: "jvm", Triple: `"`, Comment: slashes, Blocks: braces, Tests: TestName{Suffix: "Test"}, Public: declaredPublic, FolderScope: true},
	{ID: "javascript", Extensions: list("js cjs mjs es6"), Interpreters: list("node nodejs"),
		Family: "js", Comment: slashes, Blocks: braces, Tests: TestName{Suffix: ".test"}, EntryFiles: list("index"), FileImports: true,
		Public: exported, Reexports: EntryFiles},
	{ID: "javascriptreact", Aliases: list("javascript.jsx"), Extensions: list("jsx"),
		Family: "js", Comment: slashes, Blocks: braces, Tests: TestName{Suffix: ".test"}, EntryFiles: list("index"), FileImports: true,
		Public: exported, Reexports: EntryFiles},
	{ID: "json", Extensions: list("json jsonl geojson ipynb webmanifest"), Files: list(".babelrc .eslintrc"), Content: Config, Blocks: braces},
	{ID: "jsonc", Extensions: list("json5 jsonc"), Files: list("tsconfig.json devcontainer.json"), Content: Config, Comment: slashes, Blocks: braces},
	{ID: "julia", Extensions: list("jl"), Triple: `"`, Comment: Comment{Line: list("#"), Open: "#=", Shut: "=#", Quotes: list(`"""`)}, Blocks: elixir},
	{ID: "kotlin", Extensions: list("kt kts"), Family: "jvm", Triple: `"`, Comment: slashes, Blocks: braces, Tests: TestName{Suffix: "Test"}, Public: unlessPrivate, FolderScope: true},
	{ID: "latex", Extensions: list("tex sty"), Content: Prose, Comment: percent, Blocks: flat},
	{ID: "less", Extensions: list("less"), Comment: slashes, Blocks: braces, FileImports: true},
	{ID: "lisp", Extensions: list("lisp"), Comment: Comment{Line: list(";"), Open: "#|", Shut: "|#"}, Blocks: flat},
	{ID: "lua", Aliases: list("luau"), Extensions: list("lua rockspec"), Interpreters: list("lua luajit"), Comment: Comment{Line: list("--"), Open: "--[[", Shut: "]]"},
		Blocks: &Blocks{Style: EndWords, Heads: []string{"function", "local function", "if", "for", "while", "repeat"}, Openers: list("then do else repeat"),
			Closers: list("end else elseif until")}, EntryFiles: list("init"), FileImports: true, Public: &Public{Prefixes: "_", Hidden: list("local")}},
	{ID: "makefile", Aliases: list("make"), Extensions: list("mk mak"), Files: list("GNUmakefile Makefile makefile Justfile justfile"), Interpreters: list("make"),
		Comment: hashes, Blocks: flat},
	{ID: "markdown", Extensions: list("md markdown mdx mkd"), Content: Prose, Comment: tags, Blocks: flat},
	{ID: "matlab", Comment: Comment{Line: list("%"), Open: "%{", Shut: "%}"}, Blocks: flat},
	{ID: "nim", Extensions: list("nim nims"), Triple: `"`, Comment: Comment{Line: list("#"), Open: "#[", Shut: "]#"}, Blocks: offside},
	{ID: "nix", Extensions: list("nix"), Comment: Comment{Line: list("#"), Open: "/*", Shut: "*/"}, Blocks: braces},
	{ID: "objective-c", Aliases: list("objc"), Extensions: list("m"), Family: "c", Comment: slashes, Blocks: allman, FileImports: true},
	{ID: "objective-cpp", Extensions: list("mm"), Family: "c", Comment: slashes, Blocks: allman, FileImports: true},
	{ID: "ocaml", Extensions: list("ml mli"), Comment: Comment{Open: "(*", Shut: "*)"}, Blocks: flat},
	{ID: "odin", Extensions: list("odin"), Comment: slashes, Blocks: braces},
	{ID: "org", Extensions: list("org"), Content: Prose, Comment: hashes, Blocks: flat},
	{ID: "pascal", Extensions: list("pas pp"), Comment: Comment{Line: list("//"), Open: "{", Shut: "}"}, Blocks: flat},
	{ID: "perl", Extensions: list("pl pm t"), Interpreters: list("perl"), Comment: hashes, Blocks: braces},
	{ID: "php", Extensions: list("php phtml"), Interpreters: list("php"), Comment: both, Blocks: allman, Tests: TestName{Suffix: "Test"}, EntryFiles: list("index"), FileImports: true, Public: unlessPrivate},
	{ID: PlainText, Aliases: list("text"), Extensions: list("txt"), Files: list("CODEOWNERS LICENSE"), Content: Prose, Blocks: flat},
	{ID: "powershell", Extensions: list("ps1 psm1 psd1"), Comment: Comment{Line: list("#"), Open: "<#", Shut: "#>"}, Blocks: braces},
	{ID: "properties", Extensions: list("properties"), Content: Config, Comment: Comment{Line: list("# !")}, Blocks: flat},
	{ID: "proto", Aliases: list("protobuf proto3"), Extensions: list("proto"), Comment: slashes, Blocks: braces, FileImports: true, Reexports: AllFiles},
	{ID: "purescript", Extensions: list("purs"), Comment: dashes, Blocks: flatEnd},
	{ID: "python", Extensions: list("py pyi pyw pyx"), Files: list("SConstruct"), Interpreters: list("python pypy"),
		Triple: `"'`, Comment: Comment{Line: list("#"), Quotes: list(`""" '''`)}, Blocks: offside, Tests: TestName{Prefix: "test_"}, EntryFiles: list("__init__"), Public: &Public{Prefixes: "_"}, Reexports: EntryFiles,
		Reserved: list("False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield")},
	{ID: "r", Extensions: list("r"), Interpreters: list("Rscript"), Comment: hashes, Blocks: flat},
	{ID: "racket", Extensions: list("rkt"), Comment: Comment{Line: list(";"), Open: "#|", Shut: "|#"}, Blocks: flat},
	{ID: "restructuredtext", Extensions: list("rst"), Content: Prose, Comment: Comment{Line: list("..")}, Blocks: flat},
	{ID: "ruby", Extensions: list("rb rake gemspec ru"), Files: list("Brewfile Gemfile Podfile Rakefile Vagrantfile"), Interpreters: list("ruby jruby"),
		Comment: Comment{Line: list("#"), Open: "=begin", Shut: "=end"}, Blocks: ruby, Tests: TestName{Suffix: "_spec"}, FileImports: true, Public: &Public{Prefixes: "_", Hidden: list("private")}},
	{ID: "rust", Extensions: list("rs"), Comment: slashes, Blocks: braces, EntryFiles: list("mod lib"), Public: &Public{Words: list("pub")}, Reexports: AllFiles},
	{ID: "scala", Extensions: list("sc scala sbt"), Interpreters: list("scala"), Family: "jvm", Triple: `"`, Comment: slashes,
		Blocks: &Blocks{Style: Braced, Openers: list("= => then yield"), Closers: braces.Closers}, Tests: TestName{Suffix: "Test"}, Public: unlessPrivate, FolderScope: true},
	{ID: "scheme", Extensions: list("scm"), Comment: Comment{Line: list(";"), Open: "#|", Shut: "|#"}, Blocks: flat},
	{ID: "scss", Extensions: list("scss sass"), Comment: slashes, Blocks: braces, FileImports: true},
	{ID: "shellscript", Aliases: list("shell"), Extensions: list("bash sh zsh ksh bats ebuild"), Files: list("PKGBUILD .bash_profile .bashrc .profile .zshrc"),
		Interpreters: list("bash sh dash ksh zsh ash"), Comment: hashes,
		Blocks: &Blocks{Style: EndWords, Heads: list("case"), Openers: list("then do else {"), Closers: list("fi done esac else elif ;; }")}, FileImports: true},
	{ID: "solidity", Extensions: list("sol"), Comment: slashes, Blocks: braces},
	{ID: "sql", Extensions: list("sql"), Comment: Comment{Line: list("--"), Open: "/*", Shut: "*/"}, Blocks: flatEnd},
	{ID: "starlark", Extensions: list("bzl star"), Files: list("BUILD BUILD.bazel Tiltfile WORKSPACE"), Comment: Comment{Line: list("#"), Quotes: list(`"""`)}, Blocks: offside},
	{ID: "svelte", Extensions: list("svelte"), Family: "js", Comment: Comment{Line: list("//"), Open: "<!--", Shut: "-->"}, Blocks: markup, EntryFiles: list("index")},
	{ID: "swift", Extensions: list("swift"), Interpreters: list("swift"), Triple: `"`, Comment: slashes, Blocks: braces, Tests: TestName{Suffix: "Test"}, Public: declaredPublic, FolderScope: true},
	{ID: "tcl", Extensions: list("tcl"), Interpreters: list("tclsh"), Comment: hashes, Blocks: braces},
	{ID: "thrift", Extensions: list("thrift"), Comment: both, Blocks: braces},
	{ID: "toml", Extensions: list("toml"), Files: list("Pipfile"), Content: Config, Triple: `"'`, Comment: hashes, Blocks: flat},
	{ID: "typescript", Extensions: list("ts mts cts"), Interpreters: list("bun deno"),
		Family: "js", Comment: slashes, Blocks: braces, Tests: TestName{Suffix: ".test"}, EntryFiles: list("index"), FileImports: true,
		Public: exported, Reexports: EntryFiles},
	{ID: "typescriptreact", Aliases: list("typescript.tsx"), Extensions: list("tsx"),
		Family: "js", Comment: slashes, Blocks: braces, Tests: TestName{Suffix: ".test"}, EntryFiles: list("index"), FileImports: true,
		Public: exported, Reexports: EntryFiles},
	{ID: "v", Comment: slashes, Blocks: braces},
	{ID: "vb", Extensions: list("vb"), Comment: Comment{Line: list("'")}, Blocks: &Blocks{Style: EndWords, Heads: list("If For While Do Select Try With Using"),
		Closers: list("End Else ElseIf Next Loop Case Catch Finally")}},
	{ID: "verilog", Extensions: list("v sv"), Comment: slashes, Blocks: &Blocks{Style: EndWords, Openers: list("begin"), Closers: list("end else endmodule endfunction endtask endcase")}},
	{ID: "vhdl", Extensions: list("vhd vhdl"), Comment: Comment{Line: list("--")}, Blocks: flatEnd},
	{ID: "viml", Extensions: list("vim"), Comment: Comment{Line: list(`"`)},
		Blocks: &Blocks{Style: EndWords, Closers: list("end else endif endfunction endfor endwhile")}},
	{ID: "vue", Extensions: list("vue"), Family: "js", Comment: Comment{Line: list("//"), Open: "<!--", Shut: "-->"}, Blocks: markup, EntryFiles: list("index")},
	{ID: "wgsl", Extensions: list("wgsl"), Comment: slashes, Blocks: braces},
	{ID: "xml", Extensions: list("svg xml xsd xsl plist csproj props targets"), Comment: tags, Content: Config, Blocks: markup},
	{ID: "yaml", Aliases: list("dockercompose yaml.docker-compose"), Extensions: list("yaml yml"), Files: list(".clang-format docker-compose.yml docker-compose.yaml"),
		Content: Config, Comment: hashes, Blocks: flat},
	{ID: "zig", Extensions: list("zig zon"), Comment: Comment{Line: list("//")}, Blocks: braces},
}
