package diagnostics

import (
	"fmt"
	"strings"

	"quarry/agent"
	"quarry/index/syntax"
)

// mostSyntax is how many syntax errors of a document are told: one mistake can
// make many, and the first is the one to look at.
const mostSyntax = 20

// Syntax are the places of a document that tree-sitter cannot parse, as
// diagnostics. Compilers say it better; this is for files that have none at hand.
// A language without a grammar has none. The document is parsed anew: some
// milliseconds for 100 KB.
func Syntax(doc agent.Document) []agent.Problem {
	faults, _ := syntax.ParseErrors(doc.Language, []byte(doc.Text))
	var list []agent.Problem
	for _, f := range faults[:min(len(faults), mostSyntax)] {
		p := agent.Problem{
			Location: agent.Location{Document: doc, Start: int(f.Start), End: int(f.End)},
			Severity: agent.SeverityError, Source: "quarry", Code: "syntax",
		}
		text, _, _ := strings.Cut(doc.Text[f.Start:f.End], "\n")
		switch {
		case f.Missing != "":
			p.Message = fmt.Sprintf("Syntax error: %s is missing", f.Missing)
		case text == "":
			p.Message = "Syntax error"
		default:
			p.Message = fmt.Sprintf("Syntax error at %q", firstLine(text))
		}
		list = append(list, p)
	}
	return list
}
