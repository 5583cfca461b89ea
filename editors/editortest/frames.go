package editortest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Record keeps what the program sends to the terminal from now on. What it returns ends that
// and gives the frames that were to be seen: a program hides the cursor while it draws one.
func (term *Terminal) Record() (frames func() []Screen) {
	term.t.Helper()
	file := filepath.Join(term.t.TempDir(), "sent")
	term.tmux("pipe-pane", "cat > "+file)
	return func() []Screen {
		term.t.Helper()
		term.tmux("pipe-pane")
		sent, err := os.ReadFile(file)
		if err != nil {
			term.t.Fatal(err)
		}
		return term.replay(string(sent))
	}
}

// replay sends what a program sent to another terminal of the same size, frame by frame.
func (term *Terminal) replay(sent string) (frames []Screen) {
	term.t.Helper()
	const frameEnds = "\x1b[?25h" // the cursor is shown again
	size := strings.Fields(term.tmux("display-message", "-p", "#{pane_width} #{pane_height}"))
	pipe := filepath.Join(term.t.TempDir(), "pipe")
	term.tmux("new-session", "-d", "-s", "replay", "-x", size[0], "-y", size[1], "stty raw -echo; mkfifo "+pipe+"; exec cat "+pipe)
	defer term.tmux("kill-session", "-t", "replay")
	term.Within(deadline, func(Screen) bool { _, err := os.Stat(pipe); return err == nil })
	to, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		term.t.Fatal(err)
	}
	defer to.Close()
	for i, frame := range strings.SplitAfter(sent, frameEnds) {
		name := fmt.Sprintf("frame %d", i) // as the terminal's title, which says that the frame has arrived
		if _, err := to.WriteString(frame + "\x1b]2;" + name + "\a"); err != nil {
			term.t.Fatal(err)
		}
		arrived := func(Screen) bool {
			return strings.TrimSpace(term.tmux("display-message", "-p", "-t", "replay", "#{pane_title}")) == name
		}
		if _, ok := term.Within(deadline, arrived); !ok {
			term.t.Fatalf("the terminal did not take %s: %q", name, frame)
		}
		frames = append(frames, parseScreen(term.tmux("capture-pane", "-p", "-e", "-t", "replay")))
	}
	return frames
}
