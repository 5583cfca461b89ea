package editortest

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// deadline is how long a screen may take to become what a test expects: an
// editor's start, the server's, and a loaded machine with two cores are in it.
const deadline = 2 * time.Minute

// pollEvery is how often the screen is looked at; tmux has no event to wait for.
const pollEvery = 50 * time.Millisecond

// Terminal is an 80-column terminal with one editor in it.
type Terminal struct {
	t      testing.TB
	socket string
}

// Session says what to start in a Terminal.
type Session struct {
	Root    string            // the chroot, of those that editors/chroot.sh knows; the editors' if ""
	Dir     string            // the working folder
	Home    string            // the editor's home folder, with its configuration
	Binds   []string          // more folders that the editor needs to see
	Path    []string          // folders put before PATH
	Env     map[string]string // added to the otherwise empty environment
	Columns int               // of the screen; 80 if 0
	Rows    int               // of the screen; 24 if 0
	Command []string
}

// Open starts the session's command in the chroot. The terminal and all that
// runs in it is gone when the test ends.
func Open(t testing.TB, s Session) *Terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("the editor tests need tmux: apt-get install tmux, or run make test-editors, which does")
	}
	// A socket's path has a length limit that a test's TempDir can pass.
	dir, err := os.MkdirTemp("", "tmux")
	if err != nil {
		t.Fatal(err)
	}
	term := &Terminal{t: t, socket: filepath.Join(dir, "s")}
	t.Cleanup(func() {
		term.end()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})

	columns, rows := s.Columns, s.Rows
	if columns == 0 {
		columns = 80
	}
	if rows == 0 {
		rows = 24
	}
	args := []string{
		"-u", "-f", "/dev/null", "start-server", ";",
		"set-option", "-s", "escape-time", "0", ";", // else a lone Escape is held back to see what follows
		"set-option", "-g", "remain-on-exit", "on", ";",
		"new-session", "-d", "-c", s.Dir, "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows),
		filepath.Join(Module(t), "editors", "chroot.sh"), "run", "--root", cmp.Or(s.Root, "editors"), "--bind", s.Dir, "--bind", s.Home,
	}
	for _, dir := range append(s.Binds, s.Path...) {
		args = append(args, "--bind", dir)
	}
	args = append(args, "--", "env", "-i", "TERM=tmux-256color", "COLORTERM=truecolor", "LANG=C.UTF-8",
		"HOME="+s.Home, "PATH="+strings.Join(append(s.Path, "/usr/bin", "/bin"), ":"))
	for name, value := range s.Env {
		args = append(args, name+"="+value)
	}
	term.tmux(append(args, s.Command...)...)
	return term
}

// end kills what runs in the terminal and returns when all of it is gone: until
// then it may write to folders that the test is about to remove.
func (term *Terminal) end() {
	pid := strings.TrimSpace(term.tmux("display-message", "-p", "#{pane_pid}"))
	// chroot.sh waits for its one child, whose death ends all other processes.
	if child, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children"); err == nil {
		if id, err := strconv.Atoi(strings.TrimSpace(string(child))); err == nil {
			// It may have ended by itself in the meantime.
			if child, err := os.FindProcess(id); err == nil {
				_ = child.Kill()
			}
		}
	}
	term.Within(deadline, func(Screen) bool {
		return strings.TrimSpace(term.tmux("display-message", "-p", "#{pane_dead}")) == "1"
	})
	term.tmux("kill-server")
}

func (term *Terminal) tmux(args ...string) string {
	term.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", term.socket}, args...)...).CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

// Type types text, one key after the other without a pause.
func (term *Terminal) Type(text string) {
	term.t.Helper()
	for line := range strings.Lines(text) {
		if typed := strings.TrimSuffix(line, "\n"); typed != "" {
			term.sendKeys("-l", "--", typed)
		}
		if strings.HasSuffix(line, "\n") {
			term.sendKeys("Enter")
		}
	}
}

// Press presses keys by their tmux names: Escape, Tab, Enter, M-w, C-x, BSpace.
// All of them are in the editor's input before it sees the first.
func (term *Terminal) Press(keys ...string) {
	term.t.Helper()
	term.sendKeys(keys...)
}

func (term *Terminal) sendKeys(args ...string) {
	term.t.Helper()
	for i, arg := range args {
		if strings.HasSuffix(arg, ";") { // tmux ends a command there
			args[i] = strings.TrimSuffix(arg, ";") + `\;`
		}
	}
	term.tmux(append([]string{"send-keys"}, args...)...)
}

// Screen is what the terminal shows now.
func (term *Terminal) Screen() Screen {
	term.t.Helper()
	screen := parseScreen(term.tmux("capture-pane", "-p", "-e"))
	cursor := term.tmux("display-message", "-p", "#{cursor_x} #{cursor_y} #{pane_width}")
	if _, err := fmt.Sscan(cursor, &screen.CursorColumn, &screen.CursorRow, &screen.Columns); err != nil {
		term.t.Fatalf("tmux told the cursor as %q: %v", cursor, err)
	}
	return screen
}

// WaitFor looks at the screen until ok holds for it, and returns that screen.
// After the deadline the test fails with what was expected and what is there.
func (term *Terminal) WaitFor(what string, ok func(Screen) bool) Screen {
	term.t.Helper()
	screen, found := term.Within(deadline, ok)
	if !found {
		term.t.Fatalf("after %s there is no %s on the screen:\n%s", deadline, what, screen.Framed())
	}
	return screen
}

// Within looks at the screen until ok holds for it or the time is over, and
// returns the last screen and whether ok held.
func (term *Terminal) Within(limit time.Duration, ok func(Screen) bool) (Screen, bool) {
	term.t.Helper()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for end := time.Now().Add(limit); ; <-tick.C {
		if screen := term.Screen(); ok(screen) {
			return screen, true
		} else if time.Now().After(end) {
			return screen, false
		}
	}
}

// Insist does again and again what the user does, until ok holds for the
// screen: for what depends on something that shows nowhere. It waits twice as
// long after each try, since on a busy machine the answer to one may take
// longer than the first wait, and the next try puts an end to it.
func (term *Terminal) Insist(what string, do func(), ok func(Screen) bool) Screen {
	term.t.Helper()
	end := time.Now().Add(deadline)
	for patience := 2 * time.Second; ; patience = min(2*patience, deadline/4) {
		do()
		screen, found := term.Within(patience, ok)
		if found {
			return screen
		}
		if time.Now().After(end) {
			term.t.Fatalf("after %s there is no %s on the screen:\n%s", deadline, what, screen.Framed())
		}
	}
}

// WaitForText waits until the screen shows text within one line.
func (term *Terminal) WaitForText(text string) Screen {
	term.t.Helper()
	return term.WaitFor(fmt.Sprintf("%q", text), func(s Screen) bool { return s.Contains(text) })
}

// WaitForFile waits until a file holds text exactly, as after the editor was
// told to save it.
func (term *Terminal) WaitForFile(path, text string) {
	term.t.Helper()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for end := time.Now().Add(deadline); ; <-tick.C {
		got, err := os.ReadFile(path)
		if err == nil && string(got) == text {
			return
		}
		if time.Now().After(end) {
			term.t.Fatalf("after %s %s (%v) holds\n%s\nwant\n%s\nscreen:\n%s",
				deadline, filepath.Base(path), err, got, text, term.Screen().Framed())
		}
	}
}
