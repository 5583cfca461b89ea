package mask

import (
	"slices"
	"strings"
)

// Insert answers with, which is to stand in place of the masked form of text[start:end], with
// the values that it keeps at its beginning and at its end. It is not ok if it writes a mask
// that the text does not show itself, or takes a value away. Both ends are in one line.
func Insert(text string, start, end int, with string) (kept string, ok bool) {
	shown := Text(text)
	old := shown[start:end]
	first := 0
	for first < min(len(old), len(with)) && old[first] == with[first] {
		first++
	}
	last := 0
	for last < min(len(old), len(with))-first && old[len(old)-1-last] == with[len(with)-1-last] {
		last++
	}
	if shown[start+first:end-last] != text[start+first:end-last] {
		return "", false
	}
	line, rest := strings.LastIndexByte(shown[:start], '\n')+1, strings.IndexByte(shown[end:], '\n')
	if rest < 0 {
		rest = len(shown) - end
	}
	written := Span{start - line + first, start - line + len(with) - last}
	list := slices.DeleteFunc(rows(shown[line:start]+with+shown[end:end+rest], leastRun), func(r row) bool {
		return r.Start >= written.End || r.End <= written.Start
	})
	if len(list) > 0 {
		h := newHeld()
		h.read(text, shown, "")
		own := map[shape]bool{} // x's that the text shows itself
		for _, r := range rows(text, leastRun) {
			own[r.shape] = true
		}
		for _, r := range list {
			_, known := h.values[r.shape]
			if !own[r.shape] && (known || h.leads[r.lead] || r.sure()) {
				return "", false
			}
		}
	}
	return text[start:start+first] + with[first:len(with)-last] + text[end-last:end], true
}
