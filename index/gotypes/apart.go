package gotypes

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Go's type checker has no bounds of its own: constants that double take all memory, a chain of
// initialisers overflows the stack, and the size of structs within structs is counted without end.
// The first two end the process and nothing in it can prevent that. So the checker runs in a
// process of its own, which is this program started again: its memory and stack are bounded, it
// ends with the question's context, with its time, and with the process that asked. It reads the
// repository by asking for each file, so that what may be read is decided in one place.

// bounds are what one check may take.
type bounds struct {
	// Memory is in bytes, beside what the process has when it begins; Stack is a part of it.
	Memory, Stack int
	Time          time.Duration
	// Text is how many bytes of the repository are read.
	Text int
	// Places is how many places a name may stand in.
	Places int
}

// usual bounds leave room for modules ten times as large as quarry's own, whose 100 packages take
// 210 MB and some 7 s of the processor.
var usual = bounds{Memory: 2 << 30, Stack: 128 << 20, Time: 2 * time.Minute, Text: 256 << 20, Places: 100_000}

// Unfinished is the error for code that the type checker cannot be done with, within bounds.
type Unfinished struct{ Why string }

func (e *Unfinished) Error() string { return "Go's type checker did not finish: " + e.Why }

// argument is the only one of the program that is started as a type checker.
const argument = "quarry-check-go-types"

// task is what the process is asked to do; the types of the pipes are gob's.
type task struct {
	Root               string
	Toolchain, Modules string
	Target             Target
	To                 string
	Files              []string
	Bounds             bounds
}

// question is what the process asks, or with Done its answer.
type question struct {
	Text, Folder string
	Done         bool
	Found        Renaming
	Breaks       *Breaks
	Failed       string
}

// answer is the text of a file, or the files of a folder.
type answer struct {
	Text  string
	Files []string
	// Failed is why the file may not be read, "" if it may.
	Failed string
}

// alone holds a token while a process is at work: two at once would take twice the memory.
var alone = make(chan struct{}, 1)

var errSlow = errors.New("the time is over")

// renameApart is renameWith in a process of its own.
func renameApart(ctx context.Context, repo Repository, from sources, target Target, to string, files []string, most bounds) (Renaming, error) {
	select {
	case alone <- struct{}{}:
		defer func() { <-alone }()
	case <-ctx.Done():
		return Renaming{}, ctx.Err()
	}
	timed, cancel := context.WithTimeoutCause(ctx, most.Time, errSlow)
	defer cancel()
	self, err := program()
	if err != nil {
		return Renaming{}, fmt.Errorf("start Go's type checker: %w", err)
	}
	cmd := exec.CommandContext(timed, self, argument)
	cmd.Env = append(os.Environ(), "GOTRACEBACK=none")
	cmd.WaitDelay = time.Second
	complaint := beginning{}
	cmd.Stderr = &complaint
	in, err := cmd.StdinPipe()
	if err != nil {
		return Renaming{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Renaming{}, err
	}
	runtime.LockOSThread() // the system ends the process with the thread that started it
	defer runtime.UnlockOSThread()
	endWithThis(cmd)
	if err := cmd.Start(); err != nil {
		return Renaming{}, fmt.Errorf("start Go's type checker: %w", err)
	}
	send, receive := gob.NewEncoder(in), gob.NewDecoder(out)
	said, err := serve(repo, most, send, receive, task{
		Root: repo.Root, Toolchain: from.toolchain, Modules: from.modules, Target: target, To: to, Files: files, Bounds: most,
	})
	cause := context.Cause(timed)
	if err == nil {
		cancel() // it has said all that it has to
	}
	_ = in.Close()
	ended := cmd.Wait()
	var unfinished *Unfinished
	switch {
	case ctx.Err() != nil:
		return Renaming{}, ctx.Err()
	case err == nil && said.Breaks != nil:
		return Renaming{}, said.Breaks
	case err == nil && said.Failed != "":
		return Renaming{}, errors.New(said.Failed)
	case err == nil:
		return said.Found, nil
	case errors.As(err, &unfinished):
		return Renaming{}, unfinished
	case errors.Is(cause, errSlow), errors.Is(context.Cause(timed), errSlow):
		return Renaming{}, &Unfinished{fmt.Sprintf("the code takes more than %d s", most.Time/time.Second)}
	case overflow.Match(complaint.kept):
		return Renaming{}, &Unfinished{"the code nests too deep"}
	case noMemory.Match(complaint.kept):
		return Renaming{}, &Unfinished{fmt.Sprintf("the code takes more than %d MB of memory", most.Memory>>20)}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(complaint.kept)), "\n")
	return Renaming{}, &Unfinished{fmt.Sprintf("it failed: %v: %v: %s", err, ended, first)}
}

// What Go's runtime says as it ends, and its race detector. A thread whose own stack cannot grow ends by
// SIGSEGV outside of Go's code, which is how a line begins; a fault of Go's code is a panic.
var (
	overflow = regexp.MustCompile(`stack overflow|stack exceeds`)
	noMemory = regexp.MustCompile(`out of memory|cannot allocate memory|failed to create new OS thread|failed to allocate|(?m:^SIGSEGV: segmentation violation)`)
)

// beginning keeps the first bytes that are written.
type beginning struct{ kept []byte }

func (b *beginning) Write(p []byte) (int, error) {
	const most = 4096
	b.kept = append(b.kept, p[:min(len(p), most-len(b.kept))]...)
	return len(p), nil
}

// serve answers what the process asks, up to the answer to the task.
func serve(repo Repository, most bounds, send *gob.Encoder, receive *gob.Decoder, t task) (question, error) {
	if err := send.Encode(t); err != nil {
		return question{}, err
	}
	for {
		var q question
		if err := receive.Decode(&q); err != nil {
			return question{}, err
		}
		var a answer
		switch {
		case q.Done:
			return q, nil
		case q.Text != "":
			text, err := repo.Text(q.Text)
			if err != nil {
				a.Failed = err.Error()
				break
			}
			if t.Bounds.Text -= len(text); t.Bounds.Text < 0 {
				return question{}, &Unfinished{fmt.Sprintf("the packages have more than %d MB of text", most.Text>>20)}
			}
			a.Text = text
		default:
			a.Files = repo.Files(q.Folder)
		}
		if err := send.Encode(a); err != nil {
			return question{}, err
		}
	}
}

// program is this one, also where another has taken its place on the disk.
func program() (string, error) {
	if runtime.GOOS == "linux" {
		const self = "/proc/self/exe"
		if _, err := os.Stat(self); err == nil {
			return self, nil
		}
	}
	return os.Executable()
}

// Whatever program has this package can be started as a type checker, tests among them, and is
// one before anything else of it begins.
func init() {
	if len(os.Args) == 2 && os.Args[1] == argument {
		if err := work(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// work does a task. It ends the process when its input ends: then nobody waits for it.
func work(in io.Reader, out io.Writer) error {
	send, receive := gob.NewEncoder(out), gob.NewDecoder(in)
	var t task
	if err := receive.Decode(&t); err != nil {
		return err
	}
	debug.SetMaxStack(t.Bounds.Stack)
	debug.SetMemoryLimit(int64(t.Bounds.Memory) / 4 * 3) // collects more often before there is none
	if err := boundMemory(t.Bounds.Memory); err != nil {
		return err
	}
	answers := make(chan answer)
	go func() {
		for {
			var a answer
			if receive.Decode(&a) != nil {
				os.Exit(1)
			}
			answers <- a
		}
	}()
	ask := func(q question) answer {
		if send.Encode(q) != nil {
			os.Exit(1)
		}
		return <-answers
	}
	texts, folders := map[string]string{}, map[string][]string{} // each is asked for once
	repo := Repository{Root: t.Root, Text: func(file string) (string, error) {
		if text, ok := texts[file]; ok {
			return text, nil
		}
		a := ask(question{Text: file})
		if a.Failed != "" {
			return "", errors.New(a.Failed)
		}
		texts[file] = a.Text
		return a.Text, nil
	}, Files: func(folder string) []string {
		files, ok := folders[folder]
		if !ok {
			files = ask(question{Folder: folder}).Files
			folders[folder] = files
		}
		return files
	}}
	found, err := renameWith(context.Background(), repo, sources{t.Toolchain, t.Modules}, t.Target, t.To, t.Files)
	q := question{Done: true, Found: found}
	switch {
	case errors.As(err, &q.Breaks):
	case err != nil:
		q.Failed = err.Error()
	case len(found.Places)+len(found.Unknown) > t.Bounds.Places:
		q.Found, q.Breaks = Renaming{}, &Breaks{Problem: fmt.Sprintf("%s stands in more than %d places", t.Target.Name, t.Bounds.Places)}
	}
	return send.Encode(q)
}
