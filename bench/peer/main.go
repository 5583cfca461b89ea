// Command peer types the same text into quarry and into other completion
// servers, tabby-agent and lsp-ai, and counts what each asks its model for.
//
//	go run -tags sqlite_fts5 ./bench/peer -quarry bin/quarry -tabby node_modules/.bin/tabby-agent -lsp-ai lsp-ai -before OLD -after NEW
//
// OLD and NEW are as for `quarry-eval typing`. The models are stand-ins on
// loopback that know what will be typed, right half of the time, after 150 ms.
// The editor sends a change and a request for each key and cancels the request
// before it, as VS Code does. (tabby-agent 1.5.0 and lsp-ai 0.7.0 serve ghost
// text as textDocument/completion.) With -overhead the models answer at once,
// keys are 1.2 s apart, and the time to each answer is what the server adds.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

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
	overhead := flag.Bool("overhead", false, "measure the time to an answer of a model that does not think")
	flag.Parse()
	if *overhead {
		latency, *pace = 0, apart
	}
	traces, err := load(*before, *after, *count)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range []subject{
		{name: "quarry", start: func(o *oracle) (*session, error) { return startQuarry(*quarry, o) }, method: "textDocument/inlineCompletion", trigger: 2},
		{name: "tabby-agent", start: func(o *oracle) (*session, error) { return startTabby(*tabby, o) }, method: "textDocument/completion", trigger: 1},
		{name: "lsp-ai", start: func(o *oracle) (*session, error) { return startLSPAI(*lspai, o) }, method: "textDocument/completion", trigger: 1},
	} {
		if err := s.run(traces, *pace); err != nil {
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

// oracle is the model behind both servers: it knows the text to come.
type oracle struct {
	mu sync.Mutex
	// rest is what is still to be typed; it and rng are guarded by mu.
	rest string
	rng  *rand.Rand
	// prompts are those received. Guarded by mu.
	prompts []string
}

func (o *oracle) ask(prompt string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.prompts = append(o.prompts, prompt)
	if o.rng.Float64() < 0.5 {
		return "somethingElse(entirely)\n"
	}
	return o.rest
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

func (s subject) run(traces []eval.Trace, pace time.Duration) error {
	o := &oracle{rng: rand.New(rand.NewPCG(1, 1))}
	server, err := s.start(o)
	if err != nil {
		return err
	}
	defer server.close()
	keys, shown, requests, shares := 0, 0, 0, []float64{}
	var took []time.Duration
	for n, tr := range traces {
		o.mu.Lock()
		o.prompts = nil
		o.mu.Unlock()
		k, answers, err := s.typeTrace(server.conn, o, tr, n, pace)
		if err != nil {
			return err
		}
		keys, shown, took = keys+k, shown+len(answers), append(took, answers...)
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
	if n := len(took); n > 0 {
		fmt.Printf("%-12s %d answers with text, p50 %.1f ms, p95 %.1f ms\n", s.name, n, milliseconds(took[n/2]), milliseconds(took[n*95/100]))
	}
	fmt.Printf("%-12s %d keys, %d requests to the model (%.3f a key), %.1f %% of the prompt shared with the one before, ghost text at %.1f %% of keys\n",
		s.name, keys, requests, float64(requests)/float64(keys), 100*sum/float64(max(len(shares), 1)), 100*float64(shown)/float64(keys))
	return nil
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// typeTrace types one insertion into a document of its own; took are the times to
// the answers that had text.
func (s subject) typeTrace(conn *headless.Conn, o *oracle, tr eval.Trace, n int, pace time.Duration) (keys int, took []time.Duration, err error) {
	uri := headless.FileURI(filepath.Join(os.TempDir(), "peer", fmt.Sprint(n), tr.Document.Path))
	doc := map[string]any{"uri": uri, "languageId": tr.Document.Language, "version": 0, "text": tr.Document.Text}
	if err := conn.Notify("textDocument/didOpen", map[string]any{"textDocument": doc}); err != nil {
		return 0, nil, err
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
		o.mu.Lock()
		o.rest = tr.Text[i+len(string(r)):]
		o.mu.Unlock()
		before := tr.Document.Text[:tr.Offset] + typed
		if err := conn.Notify("textDocument/didChange", map[string]any{
			"textDocument":   map[string]any{"uri": uri, "version": keys + 1},
			"contentChanges": []any{map[string]any{"text": before + tr.Document.Text[tr.Offset:]}},
		}); err != nil {
			return keys, took, err
		}
		stop()
		request, cancelRequest := context.WithCancel(ctx)
		stop = cancelRequest
		line := strings.Count(before, "\n")
		params := map[string]any{
			"textDocument": map[string]any{"uri": uri},
			"position":     map[string]any{"line": line, "character": utf16Length(before[strings.LastIndexByte(before, '\n')+1:])},
			"context":      map[string]any{"triggerKind": s.trigger},
		}
		keys++
		answers.Go(func() {
			var got json.RawMessage
			asked := time.Now()
			if err := conn.Call(request, s.method, params, &got); err != nil {
				return // cancelled, mostly
			}
			if hasItems(got) {
				mu.Lock()
				took = append(took, time.Since(asked))
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
	return keys, slices.Clone(took), nil
}

func hasItems(answer json.RawMessage) bool {
	var list struct{ Items []json.RawMessage }
	if json.Unmarshal(answer, &list) == nil {
		return len(list.Items) > 0
	}
	return json.Unmarshal(answer, &list.Items) == nil && len(list.Items) > 0
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
