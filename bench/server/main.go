// Command server measures what the language server itself costs: the real
// binary, a headless editor on its pipes, and a scripted Ollama that answers at
// once, so that all the time is quarry's and the pipes'.
//
//	go run ./bench/server -quarry bin/quarry
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"quarry/lsp/lsptest"
	"quarry/model/modeltest"
)

func main() {
	quarry := flag.String("quarry", "bin/quarry", "the binary to measure")
	flag.Parse()
	b := &bench{ctx: context.Background()}
	if err := b.start(*quarry); err != nil {
		log.Fatal(err)
	}
	fmt.Println("| what | p50 | p95 | p99 |\n|---|---|---|---|")
	for _, run := range []func() error{b.overhead, b.changes, b.cancel, b.memory} {
		if err := run(); err != nil {
			log.Fatal(err)
		}
	}
	if code, err := b.editor.Quit(b.ctx); err != nil || code != 0 {
		log.Fatalf("quit: exit code %d, %v", code, err)
	}
	b.ollama.Close()
	if err := os.RemoveAll(b.root); err != nil {
		log.Fatal(err)
	}
}

type bench struct {
	ctx    context.Context
	ollama *modeltest.Server
	editor *lsptest.Editor
	cmd    *exec.Cmd
	root   string

	mu       sync.Mutex
	received time.Time               // when the last prompt for ghost text came; guarded by mu
	answer   func() modeltest.Answer // guarded by mu
}

func (b *bench) start(quarry string) error {
	var err error
	if b.ollama, err = modeltest.Start(); err != nil {
		return err
	}
	b.answer = func() modeltest.Answer { return modeltest.Answer{Pieces: []string{" value", "\n"}} }
	b.ollama.Script(func(r modeltest.Request) modeltest.Answer {
		if r.NumPredict() == 1 { // the checks of a starting runtime
			return modeltest.Answer{Pieces: []string{"x"}}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.received = time.Now()
		return b.answer()
	})
	profile, err := lsptest.LoadProfile("helix") // which asks for nothing by itself
	if err != nil {
		return err
	}
	if b.root, err = os.MkdirTemp("", "quarry-bench-"); err != nil {
		return err
	}
	b.cmd = exec.Command(quarry, "lsp", "--log-level=error", "--ollama="+b.ollama.URL, "--state-dir="+filepath.Join(b.root, ".state"))
	b.cmd.Stderr = os.Stderr
	b.editor, err = lsptest.StartProcess(b.ctx, b.cmd, lsptest.Options{Profile: profile, Root: b.root})
	if err != nil {
		return err
	}
	// Until the model is known to be ready the model-free engine answers.
	doc, err := b.document("ready.go", 10)
	if err != nil {
		return err
	}
	for len(b.completions()) == 0 {
		if err := b.type1(doc); err != nil {
			return err
		}
		if err := b.editor.Complete(b.ctx, doc, false); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) completions() []modeltest.Request {
	return slices.DeleteFunc(b.ollama.Prompts(), func(r modeltest.Request) bool { return r.NumPredict() == 1 })
}

// document opens a Go file of about n lines with the cursor in its middle.
func (b *bench) document(name string, lines int) (*lsptest.Buffer, error) {
	var text strings.Builder
	text.WriteString("package bench\n")
	for i := 0; i < lines; i += 5 {
		fmt.Fprintf(&text, "\nfunc f%d(a, b int) int {\n\treturn a*%d + b\n}\n", i, i)
	}
	doc, err := b.editor.Open(name, "go", text.String())
	if err != nil {
		return nil, err
	}
	return doc, doc.Seek(fmt.Sprintf("func f%d(a, b int) int {\n", lines/10*5))
}

// type1 writes a new line with a name nobody has typed before, so that no
// earlier answer serves.
func (b *bench) type1(doc *lsptest.Buffer) error {
	return b.editor.Replace(doc, doc.Cursor, doc.Cursor, "\n\tv"+strconv.Itoa(doc.Version)+" :=")
}

// overhead is the time that an inline completion spends outside the model: from
// the editor's write to Ollama's request, and from the last token to the answer.
func (b *bench) overhead() error {
	for _, lines := range []int{100, 1_000, 20_000} {
		doc, err := b.document(fmt.Sprintf("overhead%d.go", lines), lines)
		if err != nil {
			return err
		}
		var sent, back, sum []time.Duration
		for range 500 {
			if err := b.type1(doc); err != nil {
				return err
			}
			// Let the change be applied: its cost is measured by itself.
			if err := b.ping(doc); err != nil {
				return err
			}
			begin := time.Now()
			if err := b.editor.Complete(b.ctx, doc, false); err != nil {
				return err
			}
			end := time.Now()
			b.mu.Lock()
			received := b.received
			b.mu.Unlock()
			if received.Before(begin) {
				return fmt.Errorf("a completion asked nobody; the figure would be wrong")
			}
			// The line is made whole, so that the file stays what a parser expects.
			// Not by accepting: that computes the next completion ahead.
			doc.Ghost = nil
			if err := b.editor.Replace(doc, doc.Cursor, doc.Cursor, " value"); err != nil {
				return err
			}
			sent, back = append(sent, received.Sub(begin)), append(back, end.Sub(received))
			sum = append(sum, end.Sub(begin))
		}
		row(fmt.Sprintf("request read to backend request sent, %d lines", lines), sent)
		row(fmt.Sprintf("tokens to reply, %d lines", lines), back)
		row(fmt.Sprintf("overhead together, %d lines", lines), sum)
	}
	return nil
}

// ping waits until the server has handled all that was sent before.
func (b *bench) ping(doc *lsptest.Buffer) error {
	return b.editor.Call(b.ctx, "quarry/completion.explain", map[string]any{"textDocument": map[string]any{"uri": doc.URI}}, nil)
}

// changes is the cost of a didChange, from the editor's write until the server
// has handled it.
func (b *bench) changes() error {
	for _, lines := range []int{100, 1_000, 20_000} {
		doc, err := b.document(fmt.Sprintf("changes%d.go", lines), lines)
		if err != nil {
			return err
		}
		var took []time.Duration
		for range 1_000 {
			begin := time.Now()
			if err := b.editor.Replace(doc, doc.Cursor, doc.Cursor, "x"); err != nil {
				return err
			}
			changed := time.Since(begin)
			if err := b.ping(doc); err != nil {
				return err
			}
			both := time.Since(begin)
			begin = time.Now()
			if err := b.ping(doc); err != nil {
				return err
			}
			// The editor's own splice is in changed, the ping in both.
			took = append(took, max(0, both-changed-time.Since(begin)))
		}
		row(fmt.Sprintf("didChange of one character, %d lines", lines), took)
	}
	return nil
}

// cancel is the time from $/cancelRequest until the backend's request is over.
func (b *bench) cancel() error {
	doc, err := b.document("cancel.go", 100)
	if err != nil {
		return err
	}
	var took []time.Duration
	for range 100 {
		gate := make(chan struct{})
		b.mu.Lock()
		b.answer = func() modeltest.Answer { return modeltest.Answer{Pieces: []string{" a", " b", " c"}, Gate: gate} }
		b.mu.Unlock()
		before := len(b.completions())
		if err := b.type1(doc); err != nil {
			return err
		}
		p, err := b.editor.Start("textDocument/inlineCompletion", b.editor.InlineParams(doc, false))
		if err != nil {
			return err
		}
		gate <- struct{}{} // tokens flow
		begin := time.Now()
		if err := p.Cancel(); err != nil {
			return err
		}
		err = b.ollama.Wait(b.ctx, func([]modeltest.Request) bool {
			list := b.completions()
			return len(list) > before && list[len(list)-1].Outcome == modeltest.Cancelled
		})
		if err != nil {
			return err
		}
		took = append(took, time.Since(begin))
		_ = p.Wait(nil) // an error: it was cancelled
	}
	b.mu.Lock()
	b.answer = func() modeltest.Answer { return modeltest.Answer{Pieces: []string{" value", "\n"}} }
	b.mu.Unlock()
	row("cancel to idle backend, tokens flowing", took)
	return nil
}

// memory is the resident size before and after 10,000 edits and 1,000
// completions.
func (b *bench) memory() error {
	doc, err := b.document("memory.go", 1_000)
	if err != nil {
		return err
	}
	work := func(edits int) error {
		for i := range edits {
			if err := b.editor.Replace(doc, doc.Cursor, doc.Cursor, "x"); err != nil {
				return err
			}
			if i%10 != 9 {
				continue
			}
			if err := b.editor.Complete(b.ctx, doc, false); err != nil {
				return err
			}
			if err := b.editor.Replace(doc, doc.Cursor-10, doc.Cursor, ""); err != nil {
				return err
			}
		}
		return nil
	}
	if err := work(2_000); err != nil { // until pools and caches have their size
		return err
	}
	before, err := b.resident()
	if err != nil {
		return err
	}
	if err := work(10_000); err != nil {
		return err
	}
	after, err := b.resident()
	if err != nil {
		return err
	}
	fmt.Printf("\nResident memory after 2,000 edits and 200 completions: %.1f MB; after 10,000 and 1,000 more: %.1f MB (%+.1f %%).\n",
		before, after, 100*(after-before)/before)
	return nil
}

// resident is the server's resident memory in MB.
func (b *bench) resident() (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kb) / 1000, err
		}
	}
	return 0, fmt.Errorf("no VmRSS in /proc")
}

func row(what string, d []time.Duration) {
	slices.Sort(d)
	at := func(q float64) string {
		return fmt.Sprintf("%.2f ms", float64(d[int(q*float64(len(d)-1))].Microseconds())/1000)
	}
	fmt.Printf("| %s | %s | %s | %s |\n", what, at(.50), at(.95), at(.99))
}
