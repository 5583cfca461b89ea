package retrieval

import (
	"regexp"
	"slices"
	"strings"
)

// Users paste a whole stack trace, but a search looks at the first words of its query. In most
// languages a stack trace begins with the message and the innermost frames. In Python it
// begins with the outermost frame and ends with the message, and in Java the cause of an
// exception comes after the frames of the exception that it caused. Such traces are read in
// the order of what tells most.

const (
	// maxStack is how much of a stack trace is looked at: half of it at the beginning, half at
	// the end.
	maxStack = 32 << 10
	// maxBefore is how much of the text before a stack trace is read in its own order: filters,
	// and the line of a log.
	maxBefore = 1 << 10
	// maxAfter is how much of the text after the innermost frame of a Python stack trace comes
	// before the frames. A message may contain a dump of values.
	maxAfter = 2 << 10
	// maxCauses is how many exceptions of a chain are read, counted from the end, and maxCause
	// how much of each.
	maxCauses, maxCause = 3, 700
)

// pythonFrame is a frame of a Python stack trace.
var pythonFrame = regexp.MustCompile(`File "([^"\n]+)", line (\d{1,7})(?:, in [^\s]+)?`)

// pythonPlace is such a frame in the text of a query.
var pythonPlace = regexp.MustCompile(`File [^,]+, line \d{1,7}`)

// boilerplate is what a language's runtime says of every error, so that it says nothing of one.
var boilerplate = regexp.MustCompile("note: (?:Some details are omitted, )?run with `?RUST_BACKTRACE=\\w+`?(?: environment variable to display a backtrace| for a verbose backtrace)?\\.?|" +
	`Traceback \(most recent call last\):|During handling of the above exception, another exception occurred:?|` +
	`The above exception was the direct cause of the following exception:?|goroutine \d+ \[[^\]]*\]:|\[signal SIG\w+: [^\]]*\]|npm ERR! A complete log of this run can be found in:?`)

// causedBy begins a line that names the cause of an exception.
var causedBy = regexp.MustCompile(`(?m)^[ |\t\w-]*(?:Caused by: |\[cause\]: |---> )`)

// readStack puts what a pasted stack trace tells at the front, and shortens the text to size
// bytes. ok is false if the text has no stack trace that needs this. cut: the text was longer.
func readStack(raw string, size int) (text string, cut, ok bool) {
	if strings.Contains(raw, `File "`) {
		if text, cut, ok = readPython(raw, size); ok {
			return text, cut, true
		}
	}
	if strings.Contains(raw, "\n") && (strings.Contains(raw, "Caused by: ") || strings.Contains(raw, "[cause]: ") || strings.Contains(raw, "---> ")) {
		return readCauses(raw, size)
	}
	return "", false, false
}

// middleOut leaves out the middle of a very long text.
func middleOut(raw string) (text string, cut bool) {
	if len(raw) <= maxStack {
		return raw, false
	}
	return clipTo(raw, maxStack/2) + "\n" + clipFront(raw, maxStack/2), true
}

// closeQuotes removes a quote that has no partner, because the text that it would quote is
// elsewhere now.
func closeQuotes(s string) string {
	if strings.Count(s, `"`)%2 == 0 {
		return s
	}
	i := strings.LastIndexByte(s, '"')
	return s[:i] + " " + s[i+1:]
}

// readPython has the text before the stack trace, then the innermost frame's line and the
// message, then those of the earlier exceptions, the last one first, and then the frames, the
// innermost first. The code of the other frames is left out, because it only calls.
func readPython(raw string, size int) (text string, cut, ok bool) {
	raw, cut = middleOut(raw)
	at := pythonFrame.FindAllStringSubmatchIndex(raw, -1)
	if len(at) == 0 || len(at) == 1 && !strings.Contains(raw, "\n") {
		return "", false, false
	}
	last := at[len(at)-1]
	var b strings.Builder
	add := func(piece string, most int) {
		piece = strings.TrimSpace(piece)
		short := clipTo(piece, min(most, size-b.Len()-1))
		cut = cut || len(short) < len(piece)
		if short != "" {
			b.WriteString(closeQuotes(short))
			b.WriteByte('\n')
		}
	}
	add(raw[:at[0][0]], maxBefore)
	add(raw[last[1]:], maxAfter)
	for i := len(at) - 2; i >= 0; i-- {
		if m := messageBehind(raw, at[i][0], at[i][1], at[i+1][0]); m != "" {
			add(m, maxCause)
		}
	}
	seen := map[string]bool{} // a recursion repeats its frames
	for _, m := range slices.Backward(at) {
		// The quotes go, because only so many quoted texts of a query count.
		frame := "File " + raw[m[2]:m[3]] + ", line " + raw[m[4]:m[5]]
		if seen[frame] {
			continue
		}
		seen[frame] = true
		if b.Len()+len(frame)+1 > size {
			return b.String(), true, true
		}
		add(frame, size)
	}
	return b.String(), cut, true
}

// messageBehind is the text between a frame and the next one that is not code of the frame,
// because it is not indented deeper than the frame: the message of an exception that another
// one followed.
func messageBehind(raw string, start, end, next int) string {
	before := raw[strings.LastIndexByte(raw[:start], '\n')+1 : start]
	var kept []string
	_, lines, ok := strings.Cut(raw[end:next], "\n")
	if !ok {
		return ""
	}
	lines = lines[:strings.LastIndexByte(lines, '\n')+1] // the last line belongs to the next frame
	for line := range strings.Lines(lines) {
		if after, ok := strings.CutPrefix(line, before); ok && strings.HasPrefix(after, " ") {
			continue
		}
		if !strings.Contains(line, "Traceback (most recent call last)") && !strings.Contains(line, "above exception") {
			kept = append(kept, strings.TrimSpace(line))
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// readCauses has the first message and the last causes, the last one first, with as many
// frames as there is room for, and then the rest.
func readCauses(raw string, size int) (text string, cut, ok bool) {
	raw, cut = middleOut(raw)
	at := causedBy.FindAllStringIndex(raw, -1)
	if len(at) == 0 {
		return "", false, false
	}
	ends := append(slices.Clone(at), []int{len(raw), len(raw)})
	first := strings.TrimSpace(raw[:at[0][0]])
	message, frames, _ := strings.Cut(first, "\n")
	if frame.MatchString(message) { // the text before it is in the same line
		message, frames = "", first
	}
	parts := []string{closeQuotes(clipTo(message, maxBefore))}
	for i := len(at) - 1; i >= max(len(at)-maxCauses, 0); i-- {
		part := strings.TrimSpace(raw[at[i][0]:ends[i+1][0]])
		most := maxCause
		if i == len(at)-1 {
			most *= 2
		}
		short := clipTo(part, most)
		cut = cut || len(short) < len(part)
		parts = append(parts, closeQuotes(short))
	}
	cut = cut || len(at) > maxCauses || len(parts[0]) < len(message)
	all := strings.Join(append(parts, frames), "\n")
	text = clipTo(all, size)
	return text, cut || len(text) < len(all), true
}
