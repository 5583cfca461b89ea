package assist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"quarry/agent"
	"quarry/index/visible"
)

// A question can show that many lines of a change, none of them longer: more are past the
// edge of some screens, where a yes would be one to what nobody saw.
const (
	mostChangedLines  = 20
	longestChangeLine = 120
)

// errNoEdits says that the client told that it makes no change which a server proposes.
var errNoEdits = errors.New("change it by hand: this editor makes no changes that a language server proposes")

// changedLines are the lines of a change as choices of a question, for clients that
// have no page to show it on. A client may lose a message or cut it, but what can be
// chosen it shows, and so nobody can choose the last of them unseen.
func (s *Service) changedLines(ctx context.Context, p agent.Proposal) ([]string, error) {
	files, err := s.changedFiles(ctx, p)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, f := range files {
		name := ""
		if len(files) > 1 || f.Create {
			name = s.host.Core().Name(f.Path) + ":"
		}
		lines = append(lines, linesBetween(name, f.base.String(), f.after())...)
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > longestChangeLine {
			return nil, fmt.Errorf("change less at once: a changed line has %d letters, and this editor can show %d of it before you agree. Nothing was applied", n, longestChangeLine)
		}
	}
	if len(lines) > mostChangedLines {
		return nil, fmt.Errorf("change less at once: %d lines change, and this editor can show %d before you agree. Nothing was applied", len(lines), mostChangedLines)
	}
	return lines, nil
}

// What a screen of 24 lines and 80 columns surely shows of a page: the question lies over the rows below.
const (
	firstRows    = 9
	firstColumns = 72
)

// longChange says how many lines a change has where not all of them are surely on the screen, as the page has them that
// begins with the diff: many editors show the question over the page and cannot scroll it meanwhile, and the user is to
// know that there is more than they see.
func (s *Service) longChange(ctx context.Context, p agent.Proposal) (string, error) {
	files, err := s.changedFiles(ctx, p)
	if err != nil {
		return "", err
	}
	n := 0
	for _, f := range files {
		n += len(linesBetween("", f.base.String(), f.after()))
	}
	if seenAtOnce(p.Diff) {
		return "", nil
	}
	verb := "lines change"
	if n == 1 {
		verb = "line changes"
	}
	return fmt.Sprintf("%d %s, which may be more than you see: close this question to read on, and ask again. ", n, verb), nil
}

// seenAtOnce says whether a page that begins with a fence and this diff surely shows all its changed lines.
func seenAtOnce(diff string) bool {
	row := 1 // the fence
	for line := range strings.Lines(diff) {
		row++
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			shown := strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "        ") // no sign is wider than its bytes are many
			if row > firstRows || len(shown) > firstColumns {
				return false
			}
		}
	}
	return true
}

// linesBetween are the lines that go from before and come into after, each with its sign
// and its number behind name: "-3  old" and "+3  new".
func linesBetween(name, before, after string) (list []string) {
	grown := 0 // by the edits so far
	for _, e := range udiff.Lines(before, after) {
		at := 1 + strings.Count(before[:e.Start], "\n")
		for i, line := range splitLines(before[e.Start:e.End]) {
			list = append(list, changedLine("-", name, at+i, line))
		}
		for i, line := range splitLines(e.New) {
			list = append(list, changedLine("+", name, at+grown+i, line))
		}
		grown += strings.Count(e.New, "\n") - strings.Count(before[e.Start:e.End], "\n")
	}
	return list
}

func splitLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}

func changedLine(sign, name string, number int, line string) string {
	whole := strings.TrimRight(line, "\r\n")
	shown := strings.ReplaceAll(visible.Text(whole), "\t", "    ")
	if whole == line {
		shown += " (no end of line)"
	}
	return fmt.Sprintf("%s%s%d  %s", sign, name, number, cmp.Or(shown, "(empty)"))
}

// makesChanges is whether the client does what workspace/applyEdit asks for. Some that do
// say nothing of it; one that says no has no use for a change.
func (s *Service) makesChanges() bool {
	w := s.caps.Workspace
	return w == nil || w.ApplyEdit == nil || *w.ApplyEdit
}
