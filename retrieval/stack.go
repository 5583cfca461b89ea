package retrieval

import (
	"regexp"
	"slices"
	"strings"
)

// A stack is pasted whole, and a search looks at the first words of its query. What a stack
// says first is the message and the innermost frames in most languages, and nothing of use
// in Python, whose stacks begin with the outermost frame and end with the message; and the
// cause of an exception in Java comes behind the frames of what it caused. Such stacks are
// read in the order of what tells most.

const (
	// maxStack is how much of a stack is looked at: half of it is the beginning, half the end.
	maxStack = 32 << 10
	// maxBefore is how much of what stands before a stack is read in its order: filters, and
	// the line of a log.
	maxBefore = 1 << 10
	// maxAfter is how much of what stands behind the innermost frame of a Python stack comes
	// before the frames: a message may have a dump of values in it.
	maxAfter = 2 << 10
	// maxCauses is how many exceptions of a chain are read, the last ones, and maxCause how
	// much of each.
	maxCauses, maxCause = 3, 700
)

// pythonFrame is a frame of a Python stack.
var pythonFrame = regexp.MustCompile(`File "([^"\n]+)", line (\d{1,7})(?:, in [^\s]+)?`)

// pythonPlace is a frame of one in the text of a query.
var pythonPlace = regexp.MustCompile(`File [^,]+, line \d{1,7}`)

// causedBy begins a line that says what an exception was caused by.
var causedBy = regexp.MustCompile(`(?m)^[ |\t\w-]*(?:Caused by: |\[cause\]: |---> )`)

// readStack brings what a pasted stack tells to the front and within size bytes, each of which
// says where; ok is false if the text has no stack that begins with what tells least. cut: the
// text was more than that.
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

// middleOut leaves the middle of a very long text out.
func middleOut(raw string) (text string, cut bool) {
	if len(raw) <= maxStack {
		return raw, false
	}
	return clipTo(raw, maxStack/2) + "\n" + clipFront(raw, maxStack/2), true
}

// closeQuotes leaves a quote out that has no partner: what it would quote is now elsewhere.
func closeQuotes(s string) string {
	if strings.Count(s, `"`)%2 == 0 {
		return s
	}
	i := strings.LastIndexByte(s, '"')
	return s[:i] + " " + s[i+1:]
}

// readPython has what stands before the stack, the innermost frame's line and the message, those
// of the exceptions before it, the last one first, and then the frames, the innermost first. The
// lines of the code of the other frames are left out: they stand in files that call.
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
	seen := map[string]bool{} // a recursion says the same again
	for _, m := range slices.Backward(at) {
		// Without its quotes it is no quoted text, of which only so many count.
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

// messageBehind is what stands between a frame and the next one and is no code of the frame,
// which is farther in than the frame is: the message of an exception that another one followed.
func messageBehind(raw string, start, end, next int) string {
	before := raw[strings.LastIndexByte(raw[:start], '\n')+1 : start]
	var kept []string
	_, lines, ok := strings.Cut(raw[end:next], "\n")
	if !ok {
		return ""
	}
	lines = lines[:strings.LastIndexByte(lines, '\n')+1] // the last one is the next frame's
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

// readCauses has the first message, and the last causes, the last one first, with as many
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
	if frame.MatchString(message) { // what stands before it is in the same line
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
