package idioms

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Words are the words of a language that users meet most: its keywords, and names of its
// own library. Members are the names that stand behind the object they belong to.
type Words struct {
	Keywords, Names, Members []string
}

//go:embed words.txt
var words string

var wordsOf = sync.OnceValue(func() map[string]Words {
	all := map[string]Words{}
	for line := range strings.Lines(words) {
		language, lists, _ := strings.Cut(line, ":")
		parts := strings.Split(lists, "|")
		if len(parts) != 3 {
			panic(fmt.Sprintf("words.txt: %q has %d lists of 3", language, len(parts))) // a test reads them
		}
		all[language] = Words{strings.Fields(parts[0]), strings.Fields(parts[1]), strings.Fields(parts[2])}
	}
	return all
})

// WordsOf are those of a language, by its LSP identifier; none where it is not known.
func WordsOf(language string) Words { return wordsOf()[strings.TrimSuffix(language, "react")] }

// Is tells whether word is a keyword.
func (w Words) Is(word string) bool { return slices.Contains(w.Keywords, word) }
