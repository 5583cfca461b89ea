package editortest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/messages.golden")

const (
	// room is how many characters of a message every client shows, "quarry: " included.
	room = 60
	// forCause is how much of it a message that wraps an error leaves for that, or says itself what helps.
	forCause = 24
	// cause stands for what is wrapped.
	cause = "CAUSE"
)

// TestMessagesSayWhatHelps: what a user can be told in an editor, by the server or by quarry's own part there, names what is wrong and
// what helps within the characters that every client shows. testdata/messages.golden has them all, cut there; whoever adds one reads it.
func TestMessagesSayWhatHelps(t *testing.T) {
	var table strings.Builder
	said := messages(t)
	for _, message := range slices.Sorted(maps.Keys(said)) {
		cut := []rune("quarry: " + strings.TrimPrefix(message, "quarry: "))
		head, rest := string(cut[:min(room, len(cut))]), string(cut[min(room, len(cut)):])
		fmt.Fprintf(&table, "%-*s|%s\n", room, head, rest)
		before, _, wraps := strings.Cut("quarry: "+message, cause)
		if !helps.MatchString(head) && !plain[message] && (!wraps || len([]rune(before)) > room-forCause) {
			t.Errorf("%s: %q does not say what helps", said[message], head)
		}
	}
	for message := range plain {
		if said[message] == "" {
			t.Errorf("%q is said nowhere", message)
		}
	}
	const golden = "testdata/messages.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || table.String() != string(want) {
		t.Errorf("%s is not current (%v): run go test ./editors/editortest -update, and read what it has of your messages", golden, err)
	}
}

// helps is a word that tells the user what to do.
var helps = regexp.MustCompile(`(?i)\b(again|apply|ask|build|change|check|choose|close|create|describe|give|goes to|go to|install|lower|more|open|pass|pause|point|press|put|raise|report|restart|run|save|see|select|set|shorten|starts?|add|try|say|type|update|use|wait|write)\b|:QuarryStatus|:checkhealth|\x60`)

// plain are the messages after which the user has nothing to do: news, refusals of what an editor's program sent, and what is put into
// another message that says the rest.
var plain = map[string]bool{
	" nothing to suggest here":                         true,
	"127.0.0.1:11434 is loading granite4.1:3b":         true,
	"Ollama is loading granite4.1:3b":                  true,
	"every folder of the workspace is indexed already": true,
	"quarry: ghost text is ":                           true,
	"quarry has not asked Ollama yet":                  true,
	"quarry has not asked the model server yet":        true,
	"not applied": true,
	"shelf.go is indexed from now on; index.wideFolders in shelf.go says so": true,
	"quarry: the workspace has no file ":                                     true,

	"find similar code: shelf.go":                                                       true,
	"initialize may be sent only once":                                                  true,
	"shelf.go may not be opened: shelf.go":                                              true,
	"shelf.go may not be read: shelf.go":                                                true,
	"the server is shut down; only exit may follow":                                     true,
	"the server waits for initialize":                                                   true,
	"there is no refactoring \"shelf.go\"":                                              true,
	"trace value \"shelf.go\" must be off, messages or verbose":                         true,
	"nothing to embed: the text is blank":                                               true,
	"the chat template of granite4.1:3b has no place for tools: describe them in words": true, // by the agent itself

	"Deleted shelf.go; freed up to shelf.go (files that other models share stay)": true,
	"shelf.go": true, // what the system's key store says

	"shelf.go is chosen, but shelf.go":                     true, // which setting is false, and is to be set
	"shelf.go (shelf.go)":                                  true, // its parts are messages of their own
	"shelf.go: shelf.go":                                   true,
	"shelf.goThe question comes back when you pause.":      true,
	"127.0.0.1:11434 has no model granite4.1:3b: shelf.go": true,

	"shelf.go. Until then, completions are copied from your open files.": true,
	"shelf.go. Until then, granite4.1:3b completes in its place.":        true,
	"the model failed its trial":                                         true, // how follows
	"shelf.go found no key":                                              true, // in a message that says where to put it
	"the key in Credential Manager is empty":                             true,
	"not allowed in this phase of the connection: CAUSE":                 true,

	// To whoever imports a file, in a shell.
	"shelf.go is no GGUF file": true,
}

// places are the Go packages whose words reach an editor's user, and the calls that carry them, each with its argument.
var (
	places = []string{"../../lsp", "../../lsp/assist", "../../lsp/search", "../../lsp/progress", "../../diagnostics", "../../model", "../../cmd/internal/engines"}
	calls  = map[string]int{"New": 0, "Errorf": 0, "NewError": 1, "Say": 1, "notify": 2}
)

// messages are all that can be said, by what they say, each with the file that says it.
func messages(t *testing.T) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, place := range places {
		for _, file := range sources(t, place+"/*.go") {
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				if decl, ok := n.(*ast.GenDecl); ok && decl.Tok == token.VAR && strings.Contains(place, "model") {
					return false // kinds of problems, told apart by the code
				}
				if message := spoken(n); message != "" {
					said[message] = file
				}
				return true
			})
		}
	}
	for glob, call := range map[string]*regexp.Regexp{
		"../nvim/lua/quarry/*.lua": regexp.MustCompile(`(?:vim\.notify|tell|hint)\(\(?(?:bufnr, )?'([^'\n]{12,})'`),
		"../vscode/src/*.ts":       regexp.MustCompile("(?:Message\\(|say\\(|warn\\(|inform\\(|(?:notRunning|cutShort) = |\\n {4}[?:] )['`]([A-Zq][^'\\n]*? [^'\\n]*?)['`][,;)\\n]"),
		"../emacs/quarry*.el":      regexp.MustCompile(`\((?:user-error|message|error) "([^"\n]{12,})"`),
	} {
		for _, file := range sources(t, glob) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range call.FindAllStringSubmatch(string(source), -1) {
				said[filled(m[1], nil)] = file
			}
		}
	}
	return said
}

func sources(t *testing.T, glob string) []string {
	t.Helper()
	files, err := filepath.Glob(glob)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %d files", glob, err, len(files))
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") || strings.HasSuffix(f, "quarry-test.el") })
}

// spoken is what a node says to the user, with examples in its gaps: "" if nothing.
func spoken(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		name := ""
		switch f := n.Fun.(type) {
		case *ast.SelectorExpr:
			name = f.Sel.Name
		case *ast.Ident:
			name = f.Name
		}
		if name == "say" && len(n.Args) == 3 {
			return withRemedy(text(n.Args[1]), text(n.Args[2]))
		}
		at, ok := calls[name]
		if !ok || at >= len(n.Args) {
			return ""
		}
		format := text(n.Args[at])
		if !strings.Contains(format, " ") {
			return ""
		}
		return filled(format, n.Args[at+1:])
	case *ast.CompositeLit:
		parts := map[string]string{}
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && (key.Name == "what" || key.Name == "fix") {
					parts[key.Name] = text(kv.Value)
				}
			}
		}
		return withRemedy(parts["what"], parts["fix"])
	}
	return ""
}

func withRemedy(what, remedy string) string {
	if what != "" && remedy != "" {
		what += ": " + remedy
	}
	return what
}

// text is what an expression says, with examples for what it does not say itself.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		said, err := strconv.Unquote(e.Value)
		if err != nil { // a number
			return e.Value
		}
		return said
	case *ast.BinaryExpr:
		return text(e.X) + text(e.Y)
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Sprintf" {
			return filled(text(e.Args[0]), e.Args[1:])
		}
	}
	return example(types.ExprString(e))
}

// example is a usual value of an expression of the source.
func example(source string) string {
	switch source := strings.ToLower(source); {
	case strings.Contains(source, "model") || strings.Contains(source, "than("):
		return "granite4.1:3b"
	case strings.Contains(source, "endpoint") || strings.Contains(source, "host") || strings.Contains(source, "address") || source == "where":
		return "127.0.0.1:11434"
	}
	return "shelf.go"
}

// filled has examples of the arguments in the gaps of a format, or of a template of TypeScript.
func filled(format string, args []ast.Expr) string {
	return gaps.ReplaceAllStringFunc(format, func(gap string) string {
		if gap == "%w" && len(args) > 0 {
			args = args[1:]
			return cause
		}
		filling := "shelf.go"
		if len(args) > 0 {
			filling, args = text(args[0]), args[1:]
		}
		switch gap[len(gap)-1] {
		case 'd':
			return "12"
		case 'f':
			return "2.1"
		case 'q':
			return strconv.Quote(filling)
		}
		return filling
	})
}

var gaps = regexp.MustCompile(`%[-+.0-9]*[sdqvfTw]|\$\{[^}]*\}`)
