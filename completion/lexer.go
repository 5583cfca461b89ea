package completion

// token is a piece of a line: a word, a number or one sign. Blanks are no
// tokens, so code that differs in spacing alone is the same to the engine.
type token struct {
	start, end int
}

// lexLine calls yield for each token of line, a single line of any language.
// It knows neither strings nor comments: their words repeat as code does.
func lexLine(line string, yield func(token)) {
	for i := 0; i < len(line); {
		c := line[i]
		j := i + 1
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			i = j
			continue
		case isWord(c):
			for j < len(line) && isWord(line[j]) {
				j++
			}
		}
		yield(token{i, j})
		i = j
	}
}
