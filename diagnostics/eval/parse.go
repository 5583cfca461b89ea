package eval

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/agent"
)

// Diagnostic is what a checker reports, as an editor shows it. Lines and columns are
// from 1; EndLine is 0 if the checker gives only a place.
type Diagnostic struct {
	File               string
	Line, Column       int
	EndLine, EndColumn int
	Severity           agent.Severity
	Code, Message      string
}

var (
	goLine   = regexp.MustCompile(`^(?:vet: )?(?P<file>[^\s:]+\.go):(?P<line>\d+):(?P<column>\d+): (?P<message>.+)$`)
	tscLine  = regexp.MustCompile(`^(?P<file>[^\s(]+)\((?P<line>\d+),(?P<column>\d+)\): (?P<severity>error|warning) (?P<code>TS\d+): (?P<message>.+)$`)
	mypyLine = regexp.MustCompile(`^(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+):(?P<endline>\d+):(?P<endcolumn>\d+): (?P<severity>error|note): (?P<message>.+?)(?:  \[(?P<code>[a-z-]+)\])?$`)
	javaLine = regexp.MustCompile(`^(?P<file>[^:]+\.java):(?P<line>\d+): (?:(?P<severity>error|warning): )?(?:\[(?P<code>[a-z-]+)\] )?(?P<message>.+)$`)
)

// fromMatch makes a diagnostic of a match's named groups.
func fromMatch(form *regexp.Regexp, m []string) Diagnostic {
	word := func(name string) string {
		if i := form.SubexpIndex(name); i >= 0 {
			return m[i]
		}
		return ""
	}
	number := func(name string) int {
		n, _ := strconv.Atoi(word(name)) // "" is 0
		return n
	}
	return Diagnostic{
		File: word("file"), Line: number("line"), Column: number("column"), EndLine: number("endline"), EndColumn: number("endcolumn"),
		Severity: severityOf(word("severity")), Code: word("code"), Message: word("message"),
	}
}

func severityOf(word string) agent.Severity {
	switch word {
	case "warning":
		return agent.SeverityWarning
	case "note", "help":
		return agent.SeverityInformation
	}
	return agent.SeverityError
}

// readLines reads diagnostics of one line each; lines behind one that are indented
// belong to its message. Notes are left out.
func readLines(form *regexp.Regexp) func(output, complaints string) []Diagnostic {
	return func(output, complaints string) []Diagnostic {
		var list []Diagnostic
		open := false
		for line := range strings.Lines(output + "\n" + complaints) {
			line = strings.TrimRight(line, "\r\n")
			if m := form.FindStringSubmatch(line); m != nil {
				d := fromMatch(form, m)
				if open = d.Severity != agent.SeverityInformation; open {
					list = append(list, d)
				}
				continue
			}
			if open = open && (strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")); open {
				list[len(list)-1].Message += "\n" + strings.TrimRight(line, " ")
			}
		}
		return list
	}
}

// readMypy reads mypy's, whose ends are of the last character.
func readMypy(output, complaints string) []Diagnostic {
	list := readLines(mypyLine)(output, complaints)
	for i := range list {
		list[i].EndColumn++
	}
	return list
}

// readJava reads javac's: a line, then what is missing, the line of code and a caret.
func readJava(output, complaints string) []Diagnostic {
	var list []Diagnostic
	lines := strings.Split(output+"\n"+complaints, "\n")
	for i := 0; i < len(lines); i++ {
		m := javaLine.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		d := fromMatch(javaLine, m)
		for i+1 < len(lines) && javaLine.FindStringSubmatch(lines[i+1]) == nil {
			i++
			if strings.TrimSpace(lines[i]) == "^" {
				d.Column = strings.Index(lines[i], "^") + 1
			} else if word := strings.TrimSpace(lines[i]); d.Column > 0 && (strings.HasPrefix(word, "symbol:") || strings.HasPrefix(word, "location:") || strings.HasPrefix(word, "required:") || strings.HasPrefix(word, "found:") || strings.HasPrefix(word, "reason:")) {
				d.Message += "\n  " + word
			}
		}
		list = append(list, d)
	}
	return list
}

// readRust reads rustc's JSON, one document a line.
func readRust(_, complaints string) []Diagnostic {
	var list []Diagnostic
	for line := range strings.Lines(complaints) {
		var one struct {
			Message string
			Level   string
			Code    *struct{ Code string }
			Spans   []struct {
				FileName    string `json:"file_name"`
				LineStart   int    `json:"line_start"`
				LineEnd     int    `json:"line_end"`
				ColumnStart int    `json:"column_start"`
				ColumnEnd   int    `json:"column_end"`
				IsPrimary   bool   `json:"is_primary"`
				Label       string
			}
		}
		if json.Unmarshal([]byte(line), &one) != nil {
			continue
		}
		for _, s := range one.Spans {
			if !s.IsPrimary {
				continue
			}
			d := Diagnostic{
				File: s.FileName, Line: s.LineStart, Column: s.ColumnStart, EndLine: s.LineEnd, EndColumn: s.ColumnEnd,
				Severity: severityOf(one.Level), Message: one.Message,
			}
			if one.Code != nil {
				d.Code = one.Code.Code
			}
			if s.Label != "" { // as rust-analyzer shows it
				d.Message += "\n" + s.Label
			}
			list = append(list, d)
			break
		}
	}
	return list
}

// readGCC reads the JSON of gcc and g++.
func readGCC(output, complaints string) []Diagnostic {
	type place struct {
		File   string
		Line   int
		Column int `json:"byte-column"`
	}
	var list []Diagnostic
	for line := range strings.Lines(complaints + "\n" + output) {
		var all []struct {
			Kind, Message, Option string
			Locations             []struct {
				Caret  place
				Finish *place
			}
		}
		if json.Unmarshal([]byte(line), &all) != nil {
			continue
		}
		for _, one := range all {
			if len(one.Locations) == 0 {
				continue
			}
			at := one.Locations[0]
			d := Diagnostic{
				File: at.Caret.File, Line: at.Caret.Line, Column: at.Caret.Column,
				Severity: severityOf(one.Kind), Code: one.Option, Message: one.Message,
			}
			if at.Finish != nil {
				d.EndLine, d.EndColumn = at.Finish.Line, at.Finish.Column+1
			}
			list = append(list, d)
		}
	}
	return list
}

// readRuff reads ruff's JSON.
func readRuff(output, _ string) []Diagnostic {
	type place struct{ Row, Column int }
	var all []struct {
		Code     string
		Message  string
		Filename string
		Location place
		End      place `json:"end_location"`
	}
	if json.Unmarshal([]byte(output), &all) != nil {
		return nil
	}
	var list []Diagnostic
	for _, one := range all {
		list = append(list, Diagnostic{
			File: one.Filename, Line: one.Location.Row, Column: one.Location.Column, EndLine: one.End.Row, EndColumn: one.End.Column,
			Severity: agent.SeverityWarning, Code: one.Code, Message: one.Message,
		})
	}
	return list
}

var lineNumber = regexp.MustCompile(`\bline \d+`)

// sort of a diagnostic: two of the same sort differ only in where they are.
func (d Diagnostic) sort() [4]string {
	return [4]string{d.File, string(d.Severity), d.Code, lineNumber.ReplaceAllString(d.Message, "line")}
}

// added are the diagnostics of now of whose sort there were fewer before.
func added(before, now []Diagnostic) []Diagnostic {
	more := map[[4]string]int{}
	for _, d := range now {
		more[d.sort()]++
	}
	for _, d := range before {
		more[d.sort()]--
	}
	var list []Diagnostic
	for _, d := range now {
		if more[d.sort()] > 0 {
			list = append(list, d)
		}
	}
	return list
}

// location is a diagnostic's place in a text: its range, or the word that stands there.
func (d Diagnostic) location(text string) (start, end int) {
	lines := slices.Collect(strings.Lines(text))
	at := func(line, column int) int {
		offset := 0
		for i := 0; i < line-1 && i < len(lines); i++ {
			offset += len(lines[i])
		}
		rest := ""
		if line >= 1 && line <= len(lines) {
			rest = strings.TrimRight(lines[line-1], "\r\n")
		}
		within := min(max(column-1, 0), len(rest))
		for within > 0 && !utf8.RuneStart(append([]byte(rest), 0)[within]) {
			within--
		}
		return offset + within
	}
	start = at(d.Line, d.Column)
	if d.EndLine > 0 {
		end = at(d.EndLine, d.EndColumn)
	}
	if end <= start {
		end = start
		for end < len(text) && wordByte(text[end]) {
			end++
		}
	}
	return start, max(start, end)
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= utf8.RuneSelf
}
