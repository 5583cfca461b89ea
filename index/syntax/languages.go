package syntax

import (
	"embed"
	"fmt"
	"math"
	"strings"
	"sync"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/bash"
	"github.com/smacker/go-tree-sitter/c"
	"github.com/smacker/go-tree-sitter/cpp"
	"github.com/smacker/go-tree-sitter/csharp"
	"github.com/smacker/go-tree-sitter/css"
	"github.com/smacker/go-tree-sitter/dockerfile"
	"github.com/smacker/go-tree-sitter/elixir"
	"github.com/smacker/go-tree-sitter/golang"
	"github.com/smacker/go-tree-sitter/hcl"
	"github.com/smacker/go-tree-sitter/html"
	"github.com/smacker/go-tree-sitter/java"
	"github.com/smacker/go-tree-sitter/javascript"
	"github.com/smacker/go-tree-sitter/kotlin"
	"github.com/smacker/go-tree-sitter/lua"
	markdown "github.com/smacker/go-tree-sitter/markdown/tree-sitter-markdown"
	"github.com/smacker/go-tree-sitter/php"
	"github.com/smacker/go-tree-sitter/protobuf"
	"github.com/smacker/go-tree-sitter/python"
	"github.com/smacker/go-tree-sitter/ruby"
	"github.com/smacker/go-tree-sitter/rust"
	"github.com/smacker/go-tree-sitter/scala"
	"github.com/smacker/go-tree-sitter/sql"
	"github.com/smacker/go-tree-sitter/swift"
	"github.com/smacker/go-tree-sitter/toml"
	"github.com/smacker/go-tree-sitter/typescript/tsx"
	"github.com/smacker/go-tree-sitter/typescript/typescript"
	"github.com/smacker/go-tree-sitter/yaml"

	"quarry/index/addresses"
	"quarry/index/lang"
	"quarry/index/syntax/query"
	"quarry/index/syntax/treesitter"
)

//go:embed queries
var queryFiles embed.FS

// parseRoom is what a parse may take of the process's addresses: some of what is left stays
// for others.
func parseRoom() int64 {
	left := addresses.Left()
	if left < math.MaxInt64 {
		left /= 3
	}
	return left
}

// language is what the package knows of a language that has a grammar.
type language struct {
	grammar *treesitter.Grammar
	// queries are the folders under queries/ whose patterns apply, in order:
	// dialects share most of theirs.
	queries []string
	// mask, if set, hides text from the grammar that it does not know.
	mask func(src []byte) []byte
	// head, if set, is the node that those after it belong to, though the grammar has
	// them beside it: a build stage's FROM.
	head string
	// deep says that each step of its scanner takes the time of what is open there, so that junk
	// takes the square of its depth: a file has no more time than an open document.
	deep bool
	// scopes says that local.go knows the nodes that bind names.
	scopes bool

	load  sync.Once
	facts *factQuery
}

// rubysMost: Ruby's scanner keeps a word's length in a byte, and the word 6 bytes behind the
// beginning of its state.
const rubysMost = 261

// languages are those with a grammar, by the identifiers of package lang.
var languages = map[string]*language{
	"c":               {grammar: grammar(c.GetLanguage), queries: []string{"c"}, mask: maskMacros, scopes: true},
	"cpp":             {grammar: grammar(cpp.GetLanguage), queries: []string{"cpp", "c"}, mask: maskMacros, scopes: true},
	"csharp":          {grammar: grammar(csharp.GetLanguage), queries: []string{"csharp"}},
	"css":             {grammar: grammar(css.GetLanguage), queries: []string{"css"}},
	"dockerfile":      {grammar: grammar(dockerfile.GetLanguage), queries: []string{"dockerfile"}, head: "from_instruction"},
	"elixir":          {grammar: grammar(elixir.GetLanguage), queries: []string{"elixir"}},
	"go":              {grammar: grammar(golang.GetLanguage), queries: []string{"go"}, scopes: true},
	"hcl":             {grammar: grammar(hcl.GetLanguage), queries: []string{"hcl"}},
	"html":            {grammar: grammar(html.GetLanguage), queries: []string{"html"}, deep: true},
	"java":            {grammar: grammar(java.GetLanguage), queries: []string{"java"}, scopes: true},
	"javascript":      {grammar: grammar(javascript.GetLanguage), queries: []string{"javascript", "jsx", "ecmascript"}, scopes: true},
	"javascriptreact": {grammar: grammar(javascript.GetLanguage), queries: []string{"javascript", "jsx", "ecmascript"}, scopes: true},
	"kotlin":          {grammar: grammar(kotlin.GetLanguage), queries: []string{"kotlin"}, mask: maskFunInterfaces},
	"lua":             {grammar: treesitter.New(lua.GetLanguage, treesitter.Scanner{Shared: true}), queries: []string{"lua"}, mask: maskLua},
	"markdown":        {grammar: grammar(markdown.GetLanguage), queries: []string{"markdown"}},
	"php":             {grammar: grammar(php.GetLanguage), queries: []string{"php"}},
	"proto":           {grammar: grammar(protobuf.GetLanguage), queries: []string{"proto"}},
	"python":          {grammar: grammar(python.GetLanguage), queries: []string{"python"}, scopes: true},
	"ruby":            {grammar: treesitter.New(ruby.GetLanguage, treesitter.Scanner{Most: rubysMost}), queries: []string{"ruby"}},
	"rust":            {grammar: grammar(rust.GetLanguage), queries: []string{"rust"}, scopes: true},
	"scala":           {grammar: grammar(scala.GetLanguage), queries: []string{"scala"}},
	"shellscript":     {grammar: grammar(bash.GetLanguage), queries: []string{"shellscript"}},
	"sql":             {grammar: treesitter.New(sql.GetLanguage, treesitter.Scanner{Forgets: true}), queries: []string{"sql"}, mask: maskProcedures},
	"swift":           {grammar: treesitter.New(swift.GetLanguage, treesitter.Scanner{OwnMemory: true}), queries: []string{"swift"}},
	"toml":            {grammar: grammar(toml.GetLanguage), queries: []string{"toml"}},
	"typescript":      {grammar: grammar(typescript.GetLanguage), queries: []string{"typescript", "ecmascript"}, scopes: true},
	"typescriptreact": {grammar: grammar(tsx.GetLanguage), queries: []string{"typescript", "jsx", "ecmascript"}, scopes: true},
	"yaml":            {grammar: grammar(yaml.GetLanguage), queries: []string{"yaml"}},
}

// Languages is how many languages this binary reads by a grammar.
func Languages() int { return len(languages) }

// grammar is one whose scanner is like most.
func grammar(of func() *sitter.Language) *treesitter.Grammar {
	return treesitter.New(of, treesitter.Scanner{})
}

// languageFor returns the grammar and queries of a language, nil if it has
// none, loaded on first use: a session needs few of them.
func languageFor(name string) *language {
	l := languages[name]
	if l == nil {
		return nil
	}
	l.load.Do(func() {
		l.grammar.Within(parseRoom)
		if err := l.grammar.Load(); err != nil {
			return // read by its lines then; TestEveryScannerIsGuarded loads them all
		}
		g := query.NewGrammar(l.grammar.Language())
		q, err := query.Compile(g, l.source())
		if err != nil {
			// The queries are part of the binary and TestQueriesCompile
			// compiles them all.
			panic(fmt.Sprintf("syntax: %s: %v", name, err))
		}
		if l.facts, err = newFactQuery(q); err != nil {
			panic(fmt.Sprintf("syntax: %s: %v", name, err))
		}
		l.facts.heads = g.Symbols[l.head]
	})
	if l.facts == nil {
		return nil
	}
	return l
}

func (l *language) source() string {
	var src strings.Builder
	for _, dir := range l.queries {
		text, err := queryFiles.ReadFile("queries/" + dir + "/facts.scm")
		if err != nil {
			panic("syntax: " + err.Error())
		}
		src.Write(text)
		src.WriteByte('\n')
	}
	return src.String()
}

// contentOf is the content type of a file's text outside comments.
func contentOf(language string) Content {
	switch lang.Of(language).Content {
	case lang.Prose:
		return ContentDoc
	case lang.Config:
		return ContentConfig
	}
	return ContentCode
}
