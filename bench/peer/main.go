// Command peer types the same text into quarry and into other completion
// servers, tabby-agent and lsp-ai, and counts what each asks its model for.
//
//	go run -tags sqlite_fts5 ./bench/peer -quarry bin/quarry -tabby node_modules/.bin/tabby-agent -lsp-ai lsp-ai -before OLD -after NEW
//
// OLD and NEW are as for `quarry-eval typing`. The models are stand-ins on
// loopback that know what will be typed, right half of the time, after 150 ms;
// with -real URL one real model behind llama.cpp answers all of them. Each peer
// is typed into with its own defaults and with the settings that suit it best here.
// The editor sends a change and a request for each key and cancels the request
// before it, as VS Code does. (tabby-agent 1.5.0 and lsp-ai 0.7.0 serve ghost
// text as textDocument/completion.) With -overhead the models answer at once,
// keys are 1.2 s apart, and the time to each answer is what the server adds.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"quarry/completion/eval"
	"quarry/lsp/headless"
)

// latency is how long the models think.
var latency = 150 * time.Millisecond

// Keys as far apart that no server holds a request back for the next one;
// lsp-ai sends one a second.
const apart = 1200 * time.Millisecond

func main() {
	quarry := flag.String("quarry", "bin/quarry", "the quarry to run")
	tabby := flag.String("tabby", "node_modules/.bin/tabby-agent", "the tabby-agent to run")
	lspai := flag.String("lsp-ai", "lsp-ai", "the lsp-ai to run")
	before := flag.String("before", "", "folder of older versions")
	after := flag.String("after", "", "folder of newer versions")
	count := flag.Int("traces", 12, "insertions to type")
	pace := flag.Duration("pace", 120*time.Millisecond, "time between keys")
	only := flag.String("only", "", "type only into subjects whose name contains this")
	real := flag.String("real", "", "address of a llama.cpp server whose model answers, such as http://127.0.0.1:11596")
	model := flag.String("model", "qwen2.5-coder:1.5b", "what quarry calls the model of -real")
	overhead := flag.Bool("overhead", false, "measure the time to an answer of a model that does not think")
	flag.Parse()
	if *overhead {
		latency, *pace = 0, apart
	}
	traces, err := load(*before, *after, *count)
	if err != nil {
		log.Fatal(err)
	}
	if *real != "" {
		latency = 0 // the model has its own
	}
	fixed := "[completion.debounce]\nmode = \"fixed\"\ninterval = 60\n"
	fmt.Println("| | keys | requests to the model a key | prompt shared with the one before | keys with an answer that had text | keys whose text was right |\n|---|---|---|---|---|---|")
	for _, s := range []subject{
		{name: "quarry", start: func(o *oracle) (*session, error) { return startQuarry(*quarry, o) }, method: "textDocument/inlineCompletion", trigger: 2},
		{name: "tabby-agent", start: func(o *oracle) (*session, error) { return startTabby(*tabby, "", o) }, method: "textDocument/completion", trigger: 1},
		{name: "tabby-agent, fixed debounce of 60 ms", start: func(o *oracle) (*session, error) { return startTabby(*tabby, fixed, o) }, method: "textDocument/completion", trigger: 1},
		{name: "lsp-ai", start: func(o *oracle) (*session, error) { return startLSPAI(*lspai, 1, o) }, method: "textDocument/completion", trigger: 1},
		{name: "lsp-ai, 100 requests a second", start: func(o *oracle) (*session, error) { return startLSPAI(*lspai, 100, o) }, method: "textDocument/completion", trigger: 1},
	} {
		if !strings.Contains(s.name, *only) {
			continue
		}
		if err := s.run(traces, *pace, &oracle{real: *real, model: *model, rng: rand.New(rand.NewPCG(1, 1))}); err != nil {
			log.Fatalf("%s: %v", s.name, err)
		}
	}
}

func load(before, after string, count int) ([]eval.Trace, error) {
	from, err := eval.Load(before)
	if err != nil {
		return nil, err
	}
	to, err := eval.Load(after)
	if err != nil {
		return nil, err
	}
	var traces []eval.Trace
	for _, r := range to {
		if i := slices.IndexFunc(from, func(o eval.Repository) bool { return o.Name == r.Name }); i >= 0 {
			traces = append(traces, eval.Traces(from[i], r)...)
		}
	}
	// Spread over the repositories, and of a length that ends.
	traces = slices.DeleteFunc(traces, func(t eval.Trace) bool { return len(t.Text) < 60 || len(t.Text) > 250 })
	rng := rand.New(rand.NewPCG(1, 0))
	rng.Shuffle(len(traces), func(i, j int) { traces[i], traces[j] = traces[j], traces[i] })
	return traces[:min(count, len(traces))], nil
}

// oracle is the model behind all servers: it knows the text to come, or is a real one.
type oracle struct {
	real  string // the address of a llama.cpp server, "" for none
	model string // and what its model is called

	mu sync.Mutex
	// rest is what is still to be typed; it and rng are guarded by mu.
	rest string
	rng  *rand.Rand
	// prompts are those received. Guarded by mu.
	prompts []string
}

func (o *oracle) note(prompt string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.prompts = append(o.prompts, prompt)
}

func (o *oracle) ask(ctx context.Context, prompt string) string {
	o.note(prompt)
	if o.real != "" {
		return o.complete(ctx, prompt)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rng.Float64() < 0.5 {
		return "somethingElse(entirely)\n"
	}
	return o.rest
}

// mostWritten is how many tokens a real model writes for any server.
const mostWritten = 48

// complete has the real model go on with a prompt. What ends before, or fails, is no answer.
func (o *oracle) complete(ctx context.Context, prompt string) string {
	body, err := json.Marshal(map[string]any{"prompt": prompt, "n_predict": mostWritten, "temperature": 0, "cache_prompt": true, "stop": []string{"<|fim_", "<|file_sep|>", "<|endoftext|>"}})
	if err != nil {
		return ""
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.real+"/completion", bytes.NewReader(body))
	if err != nil {
		return ""
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	var said struct{ Content string }
	if json.NewDecoder(answer.Body).Decode(&said) != nil {
		return ""
	}
	return said.Content
}

// session is a running server and the editor's end of it.
type session struct {
	conn  *headless.Conn
	close func()
}

type subject struct {
	name  string
	start func(*oracle) (*session, error)
	// method is what the server answers ghost text to, trigger the kind it
	// takes for one that nobody pressed a key for.
	method  string
	trigger int
}

func (s subject) run(traces []eval.Trace, pace time.Duration, o *oracle) error {
	server, err := s.start(o)
	if err != nil {
		return err
	}
	defer server.close()
	keys, right, requests, shares := 0, 0, 0, []float64{}
	var took []time.Duration
	for n, tr := range traces {
		o.mu.Lock()
		o.prompts = nil
		o.mu.Unlock()
		answers, err := s.typeTrace(server.conn, o, tr, n, pace)
		if err != nil {
			return err
		}
		keys += utf8.RuneCountInString(tr.Text)
		for _, a := range answers {
			took = append(took, a.took)
			if a.right {
				right++
			}
		}
		o.mu.Lock()
		requests += len(o.prompts)
		for i, p := range o.prompts {
			if i > 0 { // the first of a document is new to any server
				shares = append(shares, float64(commonPrefix(o.prompts[i-1], p))/float64(len(p)))
			}
		}
		o.mu.Unlock()
	}
	sum := 0.0
	for _, v := range shares {
		sum += v
	}
	slices.Sort(took)
	shown := len(took)
	if shown > 0 {
		fmt.Printf("%s: %d answers with text, p50 %.1f ms, p95 %.1f ms\n", s.name, shown, milliseconds(took[shown/2]), milliseconds(took[shown*95/100]))
	}
	fmt.Printf("| %s | %d | %.3f | %.1f %% | %.1f %% | %.1f %% |\n", s.name, keys, float64(requests)/float64(keys),
		100*sum/float64(max(len(shares), 1)), 100*float64(shown)/float64(keys), 100*float64(right)/float64(keys))
	return nil
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// answered is one answer that had text.
type answered struct {
	took time.Duration
	// right: its first line stands in the text that is typed next.
	right bool
}

// typeTrace types one insertion into a document of its own.
func (s subject) typeTrace(conn *headless.Conn, o *oracle, tr eval.Trace, n int, pace time.Duration) (list []answered, err error) {
	uri := headless.FileURI(filepath.Join(os.TempDir(), "peer", fmt.Sprint(n), tr.Document.Path))
	doc := map[string]any{"uri": uri, "languageId": tr.Document.Language, "version": 0, "text": tr.Document.Text}
	if err := conn.Notify("textDocument/didOpen", map[string]any{"textDocument": doc}); err != nil {
		return nil, err
	}
	defer func() {
		err = cmp.Or(err, conn.Notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}}))
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var answers sync.WaitGroup
	var mu sync.Mutex
	typed := ""
	stop := func() {}
	defer func() { stop() }()
	for i, r := range tr.Text {
		typed += string(r)
		rest := tr.Text[i+len(string(r)):]
		o.mu.Lock()
		o.rest = rest
		o.mu.Unlock()
		before := tr.Document.Text[:tr.Offset] + typed
		if err := conn.Notify("textDocument/didChange", map[string]any{
			"textDocument":   map[string]any{"uri": uri, "version": i + 1},
			"contentChanges": []any{map[string]any{"text": before + tr.Document.Text[tr.Offset:]}},
		}); err != nil {
			return list, err
		}
		stop()
		request, cancelRequest := context.WithCancel(ctx)
		stop = cancelRequest
		line, onLine := strings.Count(before, "\n"), before[strings.LastIndexByte(before, '\n')+1:]
		params := map[string]any{
			"textDocument": map[string]any{"uri": uri},
			"position":     map[string]any{"line": line, "character": utf16Length(onLine)},
			"context":      map[string]any{"triggerKind": s.trigger},
		}
		answers.Go(func() {
			var got json.RawMessage
			asked := time.Now()
			if err := conn.Call(request, s.method, params, &got); err != nil {
				return // cancelled, mostly
			}
			if text := firstText(got, onLine); text != "" {
				mu.Lock()
				list = append(list, answered{time.Since(asked), isRight(text, rest)})
				mu.Unlock()
			}
		})
		time.Sleep(pace)
	}
	time.Sleep(3 * latency)
	stop()
	all := make(chan struct{})
	go func() {
		defer close(all)
		answers.Wait()
	}()
	select {
	case <-all:
	case <-time.After(time.Second): // lsp-ai never answers what it drops; the end of the connection does
	}
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(list), nil
}

// item is one of either kind of completion.
type item struct {
	InsertText string
	Range      *span
	TextEdit   *struct {
		NewText string
		Range   *span
	}
}

type span struct{ Start, End struct{ Line, Character int } }

// firstText is what the first item of an answer puts behind the cursor, which stands behind
// onLine; "" if it has none.
func firstText(answer json.RawMessage, onLine string) string {
	var list struct{ Items []item }
	if json.Unmarshal(answer, &list) != nil && json.Unmarshal(answer, &list.Items) != nil || len(list.Items) == 0 {
		return ""
	}
	it := list.Items[0]
	text, replaced := it.InsertText, it.Range
	if it.TextEdit != nil {
		text, replaced = it.TextEdit.NewText, it.TextEdit.Range
	}
	if replaced != nil {
		text = strings.TrimPrefix(text, fromUTF16(onLine, replaced.Start.Character))
	}
	return text
}

// isRight answers whether the first line with text of what is shown is typed next, to the
// shown line's end.
func isRight(shown, rest string) bool {
	said := strings.TrimLeft(shown, "\n")
	line, _, _ := strings.Cut(said, "\n")
	return strings.TrimSpace(line) != "" && strings.HasPrefix(rest, shown[:len(shown)-len(said)]+strings.TrimRight(line, " \t"))
}

// fromUTF16 is a line from so many UTF-16 units on.
func fromUTF16(line string, units int) string {
	for i := range line {
		if units <= utf16Length(line[:i]) {
			return line[i:]
		}
	}
	return ""
}

func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
