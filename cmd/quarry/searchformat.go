package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"quarry/cmd/internal/cli"
	"quarry/index/walk"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// The values of --format.
const (
	// formatVimgrep is what `rg --vimgrep` prints: FILE:LINE:COLUMN:TEXT.
	formatVimgrep = "vimgrep"
	// formatQuickfix has why each place is shown: FILE:LINE: MESSAGE, as Vim's errorformat
	// and compilation-mode in Emacs read it.
	formatQuickfix = "quickfix"
	// formatSARIF is SARIF 2.1.0.
	formatSARIF = "sarif"
)

var formats = []string{formatVimgrep, formatQuickfix, formatSARIF}

// hit is a place of a result.
type hit struct {
	result           *retrieval.Result
	line, end        int // 1-based
	column           int // of the first letter, in bytes, 1-based
	text, name, kind string
}

// message says what the place is and why it is shown.
func (h *hit) message() string {
	said := strings.TrimSpace(h.kind + " " + h.name)
	if reasons := strings.Join(h.result.Reasons, ", "); reasons != "" {
		if said != "" {
			said += ": "
		}
		said += reasons
	}
	if said == "" {
		return strings.TrimSpace(h.text)
	}
	return said
}

// hitsOf are the places of an answer, those of a file together, each with the line that is
// shown of it.
func (h *highlighter) hitsOf(root string, files *walk.Root, results []workspace.Result) (list []hit) {
	for i := range results {
		r := &results[i].Result
		places := []hit{{line: r.StartLine, end: r.EndLine, name: r.Symbol, kind: string(r.Kind), text: r.Text}}
		for _, m := range r.More {
			places = append(places, hit{line: m.StartLine, end: m.EndLine, name: m.Symbol})
		}
		for _, p := range places {
			p.result = r
			if p.text == "" {
				var lines []string
				if p.line, lines = h.excerpt(files, r.Path, p.line, p.end); len(lines) > 0 {
					p.text = lines[0]
				}
			}
			p.text = strings.TrimRight(p.text, "\r\n")
			p.column = 1 + len(p.text) - len(strings.TrimLeft(p.text, " \t"))
			list = append(list, p)
		}
	}
	return list
}

// printFormat writes an answer for other programs. What is no result goes to standard error.
func (a searches) printFormat(root, format string, req *retrieval.Request, answer workspace.Answer) error {
	files, err := walk.Open(root, a.limits())
	if err != nil { // it went away since it was searched: places are left
		files = nil
	} else {
		defer files.Close()
	}
	for _, said := range gaps(answer) {
		fmt.Fprintln(a.Stderr, said)
	}
	h := highlighter{terms: req.Query.Terms()}
	hits := h.hitsOf(root, files, answer.Results)
	if format == formatSARIF {
		return json.NewEncoder(a.Stdout).Encode(sarifOf(root, hits))
	}
	for i := range hits {
		p := &hits[i]
		name := inLine(fromHere(root, p.result.Path))
		if format == formatQuickfix {
			fmt.Fprintf(a.Stdout, "%s:%d: %s\n", name, p.line, oneLine(p.message()))
			continue
		}
		fmt.Fprintf(a.Stdout, "%s:%d:%d:%s\n", name, p.line, p.column, oneLine(p.text))
	}
	return nil
}

// inLine is a file's name as one line has it: a name with a line's end in it would begin a place
// that a repository made up.
func inLine(name string) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(name)
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// fromHere is a file of root as a path from the current folder, which is how an editor that
// runs the command opens it.
func fromHere(root, path string) string {
	whole := filepath.Join(root, filepath.FromSlash(path))
	here, err := filepath.Abs(".")
	if err != nil {
		return whole
	}
	rel, err := filepath.Rel(here, whole)
	if err != nil {
		return whole
	}
	return rel
}

// SARIF 2.1.0, as far as places need it (OASIS, sarif-v2.1.0).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver struct {
				Name           string      `json:"name"`
				Version        string      `json:"version"`
				InformationURI string      `json:"informationUri,omitempty"`
				Rules          []sarifRule `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Bases   map[string]sarifFile `json:"originalUriBaseIds"`
		Columns string               `json:"columnKind"`
		Results []sarifResult        `json:"results"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifFile struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifResult struct {
		Rule      string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Rank      float64         `json:"rank"` // 0 to 100
	}
	sarifLocation struct {
		Physical struct {
			File   sarifFile `json:"artifactLocation"`
			Region struct {
				Start int `json:"startLine"`
				End   int `json:"endLine"`
			} `json:"region"`
		} `json:"physicalLocation"`
	}
)

// sarifRoot is the folder that SARIF's paths begin in.
const sarifRoot = "WORKSPACE"

// fileURI is the URI of a folder.
func fileURI(dir string) string {
	path := filepath.ToSlash(dir)
	if !strings.HasPrefix(path, "/") { // C:/
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// sarifOf is a log with a result for each place.
func sarifOf(root string, hits []hit) sarifLog {
	run := sarifRun{
		Bases:   map[string]sarifFile{sarifRoot: {URI: strings.TrimSuffix(fileURI(root), "/") + "/"}},
		Columns: "utf16CodeUnits", Results: []sarifResult{},
	}
	run.Tool.Driver.Name, run.Tool.Driver.Version = "quarry", cli.ThisBuild().Version
	run.Tool.Driver.Rules = []sarifRule{{ID: "search", Short: sarifText{"code that a search found"}}}
	for i := range hits {
		p := &hits[i]
		var at sarifLocation
		at.Physical.File = sarifFile{URI: (&url.URL{Path: p.result.Path}).String(), Base: sarifRoot}
		at.Physical.Region.Start, at.Physical.Region.End = p.line, max(p.line, p.end)
		run.Results = append(run.Results, sarifResult{
			Rule: "search", Level: "note", Message: sarifText{p.message()}, Locations: []sarifLocation{at},
			Rank: 100 * min(max(p.result.Score, 0), 1),
		})
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}
