// Command server measures what the language server itself costs: the real
// binary, a headless editor on its pipes, and a scripted Ollama that answers at
// once, so that all the time is quarry's and the pipes'.
//
//	go run ./bench/server -quarry bin/quarry
//	go run ./bench/server -quarry bin/quarry -against bin/before
//	go run ./bench/server -quarry bin/quarry -files testdata/syntax
//
// With -against each step is taken by one binary and then by the other, so that
// what else the machine does falls on both alike. With -files it measures files of
// many languages and sizes instead.
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

	"quarry/lsp/headless"
	"quarry/model/modeltest"
)

func main() {
	quarry := flag.String("quarry", "bin/quarry", "the binary to measure")
	against := flag.String("against", "", "another to measure in turn with it, step for step")
	fixtures := flag.String("files", "", "measure instead files of 100 to 20,000 lines made of the fixtures in `DIR`/LANGUAGE, and huge ones")
	flag.Parse()
	log.SetFlags(0)
	if *fixtures != "" {
		if err := measureFiles(*quarry, *fixtures); err != nil {
			log.Fatal(err)
		}
		return
	}
	binaries := []string{*quarry}
	if *against != "" {
		binaries = append(binaries, *against)
	}
	if err := measure(binaries); err != nil {
		log.Fatal(err)
	}
}

func measure(binaries []string) error {
	var all []*bench
	for i, binary := range binaries {
		b := &bench{ctx: context.Background(), assign: " :="}
		if i > 0 {
			b.name = binary + ": "
		}
		if err := b.start(binary); err != nil {
			return err
		}
		all = append(all, b)
	}
	fmt.Println("| what | p50 | p95 | p99 |\n|---|---|---|---|")
	for _, run := range []func([]*bench) error{overhead, changes, each((*bench).cancel), each((*bench).memory)} {
		if err := run(all); err != nil {
			return err
		}
	}
	return each((*bench).quit)(all)
}

// each runs one measurement after the other.
func each(run func(*bench) error) func([]*bench) error {
	return func(all []*bench) error {
		for _, b := range all {
			if err := run(b); err != nil {
				return err
			}
		}
		return nil
	}
}

// bench is one binary under measurement.
type bench struct {
	name   string // before each of its rows
	ctx    context.Context
	ollama *modeltest.Server
	editor *headless.Editor
	cmd    *exec.Cmd
	root   string
	assign string // between a name and its value

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
	profile, err := headless.LoadProfile("helix") // which asks for nothing by itself
	if err != nil {
		return err
	}
	if b.root, err = os.MkdirTemp("", "quarry-bench-"); err != nil {
		return err
	}
	b.cmd = exec.Command(quarry, "lsp", "--log-level=error", "--ollama="+b.ollama.URL, "--state-dir="+filepath.Join(b.root, ".state"))
	b.cmd.Stderr = os.Stderr
	b.cmd.Env = append(os.Environ(), "QUARRY_COMPLETION_MAX_FILE_BYTES=16000000")
	b.editor, err = headless.StartProcess(b.ctx, b.cmd, headless.Options{Profile: profile, Root: b.root})
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

// document opens a Go file of about n lines with the cursor in its middle,
// before a statement: what is typed there does not parse together with that,
// which is the harder case for the syntax check.
func (b *bench) document(name string, lines int) (*headless.Buffer, error) {
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

// type1 begins a new line with a name nobody has typed before, so that no
// earlier answer serves.
func (b *bench) type1(doc *headless.Buffer) error {
	lead := "\n\t"
	if doc.Text.LineCount() == 1 {
		lead = ";" // it stays one line
	}
	return b.editor.Replace(doc, doc.Cursor, doc.Cursor, lead+"v"+strconv.Itoa(doc.Version)+b.assign)
}

// overhead is the time that an inline completion spends outside the model: from
// the editor's write to Ollama's request, and from the last token to the answer.
func overhead(all []*bench) error {
	for _, lines := range []int{100, 1_000, 20_000} {
		times := make([]struct{ sent, back, sum []time.Duration }, len(all))
		docs, used := make([]*headless.Buffer, len(all)), make([]time.Duration, len(all))
		for i, b := range all {
			var err error
			if docs[i], err = b.document(fmt.Sprintf("overhead%d.go", lines), lines); err != nil {
				return err
			}
			if used[i], err = b.used(); err != nil {
				return err
			}
		}
		const completions = 500
		for n := range completions * len(all) {
			i := n % len(all)
			sent, back, err := all[i].complete(docs[i])
			if err != nil {
				return err
			}
			t := &times[i]
			t.sent, t.back, t.sum = append(t.sent, sent), append(t.back, back), append(t.sum, sent+back)
		}
		for i, b := range all {
			b.row(fmt.Sprintf("request read to backend request sent, %d lines", lines), times[i].sent)
			b.row(fmt.Sprintf("tokens to reply, %d lines", lines), times[i].back)
			b.row(fmt.Sprintf("overhead together, %d lines", lines), times[i].sum)
			now, err := b.used()
			if err != nil {
				return err
			}
			fmt.Printf("| %sprocessor time a completion, %d lines | %.2f ms | | |\n", b.name, lines,
				float64((now-used[i]).Microseconds())/1000/completions)
		}
	}
	return nil
}

// complete writes a line with the help of a completion.
func (b *bench) complete(doc *headless.Buffer) (sent, back time.Duration, err error) {
	if sent, back, err = b.ask(doc); err != nil {
		return 0, 0, err
	}
	// Not by accepting: that computes the next completion ahead.
	doc.Ghost = nil
	return sent, back, b.editor.Replace(doc, doc.Cursor, doc.Cursor, " value")
}

// ask types the beginning of a line and asks for a completion.
func (b *bench) ask(doc *headless.Buffer) (sent, back time.Duration, err error) {
	if err := b.type1(doc); err != nil {
		return 0, 0, err
	}
	// Let the change be applied: its cost is measured by itself.
	if err := b.ping(doc); err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if err := b.editor.Complete(b.ctx, doc, false); err != nil {
		return 0, 0, err
	}
	end := time.Now()
	b.mu.Lock()
	received := b.received
	b.mu.Unlock()
	if received.Before(begin) {
		return 0, 0, fmt.Errorf("a completion asked nobody; the figure would be wrong")
	}
	return received.Sub(begin), end.Sub(received), nil
}

// ping waits until the server has handled all that was sent before.
func (b *bench) ping(doc *headless.Buffer) error {
	return b.editor.Call(b.ctx, "quarry/completion.explain", map[string]any{"textDocument": map[string]any{"uri": doc.URI}}, nil)
}

// changes is the cost of a didChange, from the editor's write until the server
// has handled it.
func changes(all []*bench) error {
	for _, lines := range []int{100, 1_000, 20_000} {
		docs, took := make([]*headless.Buffer, len(all)), make([][]time.Duration, len(all))
		for i, b := range all {
			var err error
			if docs[i], err = b.document(fmt.Sprintf("changes%d.go", lines), lines); err != nil {
				return err
			}
		}
		for n := range 1_000 * len(all) {
			i := n % len(all)
			d, err := all[i].change(docs[i])
			if err != nil {
				return err
			}
			took[i] = append(took[i], d)
		}
		for i, b := range all {
			b.row(fmt.Sprintf("didChange of one character, %d lines", lines), took[i])
		}
	}
	return nil
}

// change types one character.
func (b *bench) change(doc *headless.Buffer) (time.Duration, error) {
	begin := time.Now()
	if err := b.editor.Replace(doc, doc.Cursor, doc.Cursor, "x"); err != nil {
		return 0, err
	}
	changed := time.Since(begin)
	if err := b.ping(doc); err != nil {
		return 0, err
	}
	both := time.Since(begin)
	begin = time.Now()
	if err := b.ping(doc); err != nil {
		return 0, err
	}
	// The editor's own splice is in changed, the ping in both.
	return max(0, both-changed-time.Since(begin)), nil
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
	b.row("cancel to idle backend, tokens flowing", took)
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
	fmt.Printf("\n%sresident memory after 2,000 edits and 200 completions: %.1f MB; after 10,000 and 1,000 more: %.1f MB (%+.1f %%).\n",
		b.name, before, after, 100*(after-before)/before)
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

// used is the processor time that the server has taken so far.
func (b *bench) used() (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// proc(5): utime and stime are the 12th and 13th field behind the name in
	// brackets, in hundredths of a second.
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("no processor time in /proc")
	}
	var ticks time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, err
		}
		ticks += time.Duration(n)
	}
	return ticks * 10 * time.Millisecond, nil
}

func (b *bench) quit() error {
	if code, err := b.editor.Quit(b.ctx); err != nil || code != 0 {
		return fmt.Errorf("quit: exit code %d, %w", code, err)
	}
	b.ollama.Close()
	return os.RemoveAll(b.root)
}

func (b *bench) row(what string, d []time.Duration) {
	fmt.Printf("| %s%s | %s | %s | %s |\n", b.name, what, at(d, .50), at(d, .95), at(d, .99))
}

// at is the quantile q of d in milliseconds.
func at(d []time.Duration, q float64) string {
	d = slices.Sorted(slices.Values(d))
	return fmt.Sprintf("%.2f ms", float64(d[int(q*float64(len(d)-1))].Microseconds())/1000)
}
