package editortest

import (
	"fmt"
	"strings"
	"time"
)

// Film is screens one after the other. The screens are real; how long each is shown is the
// director's, since a test types faster than a user reads.
type Film struct {
	frames []frame
}

type frame struct {
	Screen
	from, to time.Duration
}

// Show adds a screen that is shown for a while.
func (f *Film) Show(s Screen, d time.Duration) {
	from := f.length()
	f.frames = append(f.frames, frame{s, from, from + d})
}

// Frames is how many screens there are.
func (f *Film) Frames() int { return len(f.frames) }

func (f *Film) length() time.Duration {
	if len(f.frames) == 0 {
		return 0
	}
	return f.frames[len(f.frames)-1].to
}

// SVG draws the film as one picture that moves, again and again. Each row is drawn once for
// as long as it stays the same. Where pictures do not move, the frame numbered still is seen.
func (f *Film) SVG(title string, theme Theme, still int) string {
	rows := 0
	for _, frame := range f.frames {
		rows = max(rows, frame.height())
	}
	var b strings.Builder
	f.frames[0].open(&b, title, theme, rows)
	for y := range rows {
		f.strip(&b, still, func(s Screen) string {
			var drawn strings.Builder
			if y < len(s.Rows) {
				writeRow(&drawn, s.Rows[y], y, theme)
			}
			return drawn.String()
		})
	}
	b.WriteString("</g>\n")
	f.strip(&b, still, func(s Screen) string {
		var drawn strings.Builder
		s.writeCursor(&drawn, theme)
		return drawn.String()
	})
	b.WriteString("</svg>\n")
	return b.String()
}

// strip writes what draw makes of each frame, equal neighbours once.
func (f *Film) strip(b *strings.Builder, still int, draw func(Screen) string) {
	for i := 0; i < len(f.frames); {
		drawn, end := draw(f.frames[i].Screen), i+1
		for end < len(f.frames) && draw(f.frames[end].Screen) == drawn {
			end++
		}
		switch {
		case strings.TrimSpace(drawn) == "":
		case i == 0 && end == len(f.frames):
			b.WriteString(drawn)
		default:
			display := "none"
			if i <= still && still < end {
				display = "inline"
			}
			fmt.Fprintf(b, "<g display=%q>%s\n%s</g>\n", display, f.shown(f.frames[i].from, f.frames[end-1].to), drawn)
		}
		i = end
	}
}

// shown says when in each turn a group is seen.
func (f *Film) shown(from, to time.Duration) string {
	values, times := "inline", "0"
	if from > 0 {
		values, times = "none;inline", fmt.Sprintf("0;%.4f", from.Seconds()/f.length().Seconds())
	}
	if to < f.length() {
		values += ";none"
		times += fmt.Sprintf(";%.4f", to.Seconds()/f.length().Seconds())
	}
	return fmt.Sprintf(`<animate attributeName="display" calcMode="discrete" repeatCount="indefinite" dur="%.2fs" values="%s" keyTimes="%s"/>`, f.length().Seconds(), values, times)
}
