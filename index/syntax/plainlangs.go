package syntax

// Keywords that families of languages share.
var (
	functional = map[string]Kind{
		"data": KindType, "newtype": KindType, "type": KindType, "class": KindInterface, "module": KindModule, "pattern": KindFunction,
	}
	ml = map[string]Kind{
		"let": KindFunction, "type": KindType, "module": KindModule, "val": KindVar, "exception": KindType, "class": KindClass,
		"member": KindMethod, "namespace": KindModule, "interface": KindInterface, "external": KindFunction,
	}
	schema = map[string]Kind{
		"type": KindStruct, "input": KindStruct, "interface": KindInterface, "enum": KindEnum, "union": KindType, "scalar": KindType,
		"struct": KindStruct, "service": KindInterface, "exception": KindStruct, "typedef": KindType, "const": KindConst,
		"query": KindFunction, "mutation": KindFunction, "fragment": KindType, "directive": KindFunction, "namespace": KindModule,
	}
	objects = map[string]Kind{
		"class": KindClass, "interface": KindInterface, "enum": KindEnum, "struct": KindStruct, "mixin": KindClass, "extension": KindClass,
		"trait": KindInterface, "module": KindModule, "def": KindFunction, "function": KindFunction, "func": KindFunction, "fn": KindFunction,
		"proc": KindFunction, "typedef": KindType, "type": KindType, "alias": KindType, "macro": KindMacro, "template": KindFunction,
		"const": KindConst, "contract": KindClass, "library": KindModule, "event": KindType, "modifier": KindFunction, "union": KindStruct,
		"sub": KindFunction, "package": KindModule, "namespace": KindModule, "record": KindStruct, "object": KindClass, "protocol": KindInterface,
	}
	lisp = map[string]Kind{
		"(defn": KindFunction, "(defn-": KindFunction, "(defun": KindFunction, "(def": KindVar, "(defvar": KindVar, "(defconst": KindConst,
		"(defcustom": KindVar, "(defmacro": KindMacro, "(defmulti": KindFunction, "(defmethod": KindMethod, "(defprotocol": KindInterface,
		"(defrecord": KindStruct, "(deftype": KindType, "(defclass": KindClass, "(defgeneric": KindFunction, "(defparameter": KindVar,
		"(ns": KindModule, "(define": KindFunction, "(define-syntax": KindMacro, "(fn": KindFunction, "(struct": KindStruct,
	}
	visibility = []string{"pub", "public", "private", "protected", "internal", "export", "static", "final", "abstract", "async", "inline",
		"extern", "sealed", "override", "partial", "virtual", "global", "local", "exported", "unsafe", "override", "open", "const", "base", "late"}
)

// undeclared are the rules of a language whose lines do not show what they declare.
var undeclared lineRules

// plainLanguages are all those without a grammar.
var plainLanguages = map[string]lineRules{
	"asciidoc":   {keywords: map[string]Kind{"=": KindSection, "==": KindSection, "===": KindSection, "====": KindSection}},
	"clojure":    {keywords: lisp},
	"cmake":      {keywords: map[string]Kind{"function": KindFunction, "macro": KindMacro, "add_library": KindModule, "add_executable": KindModule, "option": KindVar, "project": KindModule}, imports: "include"},
	"crystal":    {modifiers: visibility, keywords: objects, imports: "require "},
	"d":          {modifiers: visibility, keywords: objects, imports: "import "},
	"dart":       {modifiers: visibility, keywords: objects, imports: "import "},
	"elisp":      {keywords: lisp},
	"elm":        {keywords: functional, operator: ":", modifiers: []string{"port"}, imports: "import "},
	"erlang":     {keywords: map[string]Kind{"-module": KindModule, "-record": KindStruct, "-define": KindMacro, "-type": KindType, "-spec": KindFunction}, imports: "-include"},
	"fennel":     {keywords: lisp},
	"fish":       {keywords: map[string]Kind{"function": KindFunction}},
	"fortran":    {modifiers: []string{"pure", "elemental", "recursive", "integer", "real", "logical"}, keywords: map[string]Kind{"subroutine": KindFunction, "function": KindFunction, "module": KindModule, "program": KindModule, "type": KindStruct, "interface": KindInterface}},
	"fsharp":     {modifiers: []string{"rec", "mutable", "inline", "private", "internal", "static", "override"}, keywords: ml, imports: "open "},
	"gleam":      {modifiers: visibility, keywords: objects, imports: "import "},
	"go.mod":     {keywords: map[string]Kind{"module": KindModule}},
	"graphql":    {modifiers: []string{"extend"}, keywords: schema},
	"groovy":     {modifiers: visibility, keywords: objects, imports: "import "},
	"haskell":    {keywords: functional, operator: "::", imports: "import "},
	"ini":        {section: iniSection},
	"json":       {section: jsonKey},
	"jsonc":      {section: jsonKey},
	"makefile":   {operator: ":", imports: "include "},
	"julia":      {modifiers: []string{"mutable", "abstract", "primitive", "export"}, keywords: objects, imports: "using "},
	"latex":      {keywords: map[string]Kind{`\section`: KindSection, `\subsection`: KindSection, `\chapter`: KindSection, `\newcommand`: KindMacro}},
	"lisp":       {keywords: lisp},
	"nim":        {keywords: objects, imports: "import "},
	"ocaml":      {modifiers: []string{"rec", "nonrec", "open"}, keywords: ml, imports: "open "},
	"odin":       {operator: "::", imports: "import "},
	"pascal":     {keywords: map[string]Kind{"procedure": KindFunction, "function": KindFunction, "unit": KindModule, "program": KindModule, "constructor": KindMethod}},
	"perl":       {keywords: objects, modifiers: []string{"our", "my", "use"}, imports: "use "},
	"powershell": {keywords: map[string]Kind{"function": KindFunction, "class": KindClass, "enum": KindEnum, "Function": KindFunction}},
	"purescript": {keywords: functional, operator: "::", imports: "import "},
	"r":          {operator: "<-", imports: "library"},
	"racket":     {keywords: lisp},
	"scheme":     {keywords: lisp},
	"solidity":   {modifiers: visibility, keywords: objects, imports: "import "},
	"starlark":   {keywords: map[string]Kind{"def": KindFunction}, imports: "load"},
	"svelte":     {modifiers: visibility, keywords: objects},
	"tcl":        {keywords: map[string]Kind{"proc": KindFunction, "namespace": KindModule}, modifiers: []string{"eval"}, imports: "source "},
	"thrift":     {keywords: schema, imports: "include "},
	"vb":         {modifiers: []string{"Public", "Private", "Friend", "Shared", "Overrides", "Protected"}, keywords: map[string]Kind{"Sub": KindFunction, "Function": KindFunction, "Class": KindClass, "Module": KindModule, "Property": KindField}},
	"verilog":    {keywords: map[string]Kind{"module": KindModule, "function": KindFunction, "task": KindFunction, "class": KindClass, "interface": KindInterface}},
	"viml":       {keywords: map[string]Kind{"function": KindFunction, "function!": KindFunction, "command": KindFunction, "command!": KindFunction, "def": KindFunction}},
	"vue":        {modifiers: visibility, keywords: objects},
	"zig":        {modifiers: []string{"pub", "export", "inline", "extern", "threadlocal", "noinline"}, keywords: map[string]Kind{"fn": KindFunction, "const": KindConst, "var": KindVar, "test": KindFunction}, imports: "@import"},

	// Nothing that these declare is known by the line it stands on.
	"ada":              undeclared,
	"asm":              undeclared,
	"astro":            undeclared,
	"awk":              undeclared,
	"bat":              undeclared,
	"csv":              undeclared,
	"diff":             undeclared,
	"gdscript":         undeclared,
	"glsl":             undeclared,
	"hlsl":             undeclared,
	"ignore":           undeclared,
	"less":             undeclared,
	"matlab":           undeclared,
	"nix":              undeclared,
	"objective-c":      undeclared,
	"objective-cpp":    undeclared,
	"org":              undeclared,
	"plaintext":        undeclared,
	"properties":       undeclared,
	"restructuredtext": undeclared,
	"scss":             undeclared,
	"v":                undeclared,
	"vhdl":             undeclared,
	"wgsl":             undeclared,
	"xml":              undeclared,
}
