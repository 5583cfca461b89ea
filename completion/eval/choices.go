package eval

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quarry/completion"
)

// A Choice is a prompt that differs from the one a server sends, so that what was chosen
// for it can be judged on the same holes. It is no setting: no user has it. What it leaves
// out is not made up for by something else, but for the last edits.
type Choice struct {
	// Form is how code of other places stands in the prompt: "" or FormComments as a
	// server writes it, FormFamily as the models were trained to see several files,
	// FormNone not at all.
	Form string
	// Healing cuts the last word, signs or blanks that are typed off the prompt and wants
	// them back at the beginning of the answer; the usual prompt is asked where they are
	// not. NoHead leaves out all that stands before the document's imports, NoHeader the
	// line on the document's style alone, NoOutline the document's own lines behind the
	// suffix, NoImports the imports and headers before the window, NoEdits the last edits.
	Healing, NoHead, NoHeader, NoOutline, NoImports, NoEdits bool
}

// The forms of code of other places.
const (
	FormComments = "comments"
	FormFamily   = "family"
	FormNone     = "none"
)

// Forms lists them.
var Forms = []string{FormComments, FormFamily, FormNone}

// String names what differs, "" for nothing.
func (c Choice) String() string {
	var list []string
	if c.Form != "" && c.Form != FormComments {
		list = append(list, "form "+c.Form)
	}
	for _, is := range []struct {
		set  bool
		name string
	}{{c.Healing, "healing"}, {c.NoHead, "no head"}, {c.NoHeader, "no header"}, {c.NoOutline, "no outline"}, {c.NoImports, "no imports"}, {c.NoEdits, "no edits"}} {
		if is.set {
			list = append(list, is.name)
		}
	}
	return strings.Join(list, ", ")
}

// usual reports whether the prompt is made as a server's.
func (c Choice) usual() bool {
	c.NoEdits = false // what the engine knows decides of these
	return c.String() == ""
}

// Why a snippet of completion stands in a head, of those that are not of other places.
const (
	whyFollowing = "what follows in this file"
	whyEdited    = "changed last"
)

// prompt is the one that the choice asks in place of p, whose head has the snippets. tail is
// what an answer has to begin with.
func (c Choice) prompt(p parts, snippets []completion.Snippet, h *TypedHole) (prompt, tail string) {
	shown := slices.DeleteFunc(slices.Clone(snippets), func(s completion.Snippet) bool {
		return c.NoOutline && s.Why == whyFollowing || c.Form == FormNone && s.Why != whyFollowing && s.Why != whyEdited
	})
	head, before := "", "" // of and before the prefix tag
	style := p.head[strings.LastIndexByte(strings.TrimSuffix(p.head, "\n"), '\n')+1:]
	sign, unit := styleOf(style)
	switch {
	case c.NoHead:
	case c.Form == FormFamily:
		before = asFiles(shown, h, unit)
	case len(shown) != len(snippets):
		head = asComments(shown, sign, unit) + style
	default:
		head = p.head
	}
	if c.NoHeader {
		head = strings.TrimSuffix(head, style)
	}
	lead := p.lead
	if c.NoImports {
		lead = ""
	}
	window := p.window
	if c.Healing {
		tail = unsafeTail.FindString(window)
		window = strings.TrimSuffix(window, tail)
	}
	return before + prefix + head + lead + window + p.suffix, tail
}

// unsafeTail is what healing cuts: a word, a run of signs or of blanks that a token may
// have a part of, with the one blank before it.
var unsafeTail = regexp.MustCompile(`(?: ?\w{1,16}| ?[^\w\s]{1,16}|[ \t]{1,16})$`)

// styleOf is the comment sign and the unit of indentation that a style header has.
func styleOf(header string) (sign, unit string) {
	sign, _, _ = strings.Cut(header, " ")
	unit = "\t"
	if m := headerSpaces.FindStringSubmatch(header); m != nil {
		n, _ := strconv.Atoi(m[1])
		unit = strings.Repeat(" ", n)
	}
	return sign, unit
}

var headerSpaces = regexp.MustCompile(`, indent (\d+) spaces`)

// control are tags that no text of a tree may bring into a prompt.
var control = regexp.MustCompile(`<\|[\w.-]+\|>`)

func harmless(text string) string {
	return control.ReplaceAllStringFunc(text, func(tag string) string { return tag[:1] + " " + tag[1:] })
}

// code is a snippet as it stands below what it is within.
func code(s completion.Snippet, unit string) string {
	if s.Within == "" {
		return s.Text
	}
	return unit + strings.ReplaceAll(s.Text, "\n", "\n"+unit)
}

// asComments writes snippets as completion does.
func asComments(snippets []completion.Snippet, sign, unit string) string {
	var b strings.Builder
	comment := func(text string) {
		for line := range strings.SplitSeq(strings.TrimRight(harmless(text), "\n"), "\n") {
			if line != "" {
				line = " " + line
			}
			b.WriteString(sign + line + "\n")
		}
	}
	open := completion.Snippet{} // what stands above
	for _, s := range snippets {
		if s.Root != open.Root || s.Path != open.Path {
			comment(s.Path)
			open = completion.Snippet{Root: s.Root, Path: s.Path}
		}
		if s.Within != "" && s.Within != open.Within {
			comment(s.Within)
		}
		comment(code(s, unit))
		if open.Within = s.Within; s.Within == "" {
			open.Within = s.Text
		}
	}
	return b.String()
}

// asFiles writes snippets as Qwen2.5-Coder was trained to see the files of a repository
// ("Qwen2.5-Coder Technical Report", 2024, section 3.2.2), the document's own last.
func asFiles(snippets []completion.Snippet, h *TypedHole, unit string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<|repo_name|>%s\n", harmless(path.Base(h.Document.Root)))
	open, within := "", ""
	for _, s := range snippets {
		if s.Path != open {
			fmt.Fprintf(&b, "<|file_sep|>%s\n", harmless(s.Path))
			open, within = s.Path, ""
		}
		if s.Within != "" && s.Within != within {
			b.WriteString(harmless(s.Within) + "\n")
		}
		b.WriteString(strings.TrimRight(harmless(code(s, unit)), "\n") + "\n")
		within = cmp.Or(s.Within, s.Text)
	}
	fmt.Fprintf(&b, "<|file_sep|>%s\n", harmless(h.Document.Path))
	return b.String()
}

// heal asks a prompt whose answer has to begin with tail, and usual where it does not.
func (a *Answers) heal(ctx context.Context, prompt, tail, usual string, stop []string, emit func(string, float64) bool) (healed bool, err error) {
	var got strings.Builder
	agrees := false
	_, err = a.generate(ctx, prompt, stop, 0, func(piece string, logprob float64) bool {
		got.WriteString(piece)
		switch text := got.String(); {
		case agrees:
			return emit(piece, logprob)
		case len(text) <= len(tail):
			return strings.HasPrefix(tail, text)
		case strings.HasPrefix(text, tail):
			agrees = true
			return emit(text[len(tail):], logprob)
		}
		return false
	})
	if agrees || err != nil {
		return agrees, err
	}
	_, err = a.generate(ctx, usual, stop, 0, emit)
	return false, err
}
