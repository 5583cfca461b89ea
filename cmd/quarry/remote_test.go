package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/lsp"
	"quarry/lsp/headless"
	"quarry/model/modeltest"
)

// Every way by which text leaves the machine shows, with the host, in quarry/status, in what editors are told, in the metrics, in
// `quarry status` and in doctor; and nothing shows where nothing leaves. The servers of other machines are behind a proxy that
// is the fake Ollama itself.
func TestWhatLeavesTheMachineShows(t *testing.T) {
	const gpu, rank, far, cloud = "gpu.example.test:11434", "rank.example.test:80", "ollama.example:443", "Ollama's cloud"
	pointed := modeltest.Model{Name: "pointed:1b", RemoteHost: "https://" + far}
	sly := modeltest.Model{Name: "sly:1b", RemoteHost: "https://" + far, Secretly: true}
	judge := func(answer string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var asked struct{ Documents []string }
			_ = json.NewDecoder(r.Body).Decode(&asked) // of who asks for no judgement there are none
			var results []string
			for i := range asked.Documents {
				results = append(results, fmt.Sprintf(`{"index": %d, "relevance_score": 0.5}`, i))
			}
			fmt.Fprintf(w, `{"results": [%s]%s}`, strings.Join(results, ","), answer)
		}))
		t.Cleanup(s.Close)
		return s
	}
	local, sent := judge(""), judge(`, "remote_host": "https://`+far+`"`)
	type use struct{ use, host string }
	for _, tt := range []struct {
		name string
		set  map[string]any
		want []use // that are remote
		// untold: only an editor's server learns it, from answers.
		untold bool
	}{
		{"nothing", map[string]any{"reranker.by": "endpoint", "reranker.url": local.URL, "completion.models": map[string]string{"python": "python:1b"}}, nil, false},
		{"the server", map[string]any{"ollama.url": "http://" + gpu}, []use{{"completion", gpu}, {"search", gpu}}, false},
		{"a server of OpenAI's interface", map[string]any{"ollama.url": "http://" + gpu, "ollama.api": "openai", "ollama.apiKey": "the-key"}, []use{{"completion", gpu}, {"search", gpu}}, false},
		{"a model of the cloud", map[string]any{"model": "big:cloud"}, []use{{"completion", cloud}}, false},
		{"a reranker that is the model", map[string]any{"model": "big:cloud", "reranker.by": "model"}, []use{{"completion", cloud}, {"reranker", cloud}}, false},
		{"a language's model of the cloud", map[string]any{"completion.models": map[string]string{"python": "py-cloud", "go": "python:1b"}}, []use{{"completion of python", cloud}}, false},
		{"an embedding model of the cloud", map[string]any{"embedding.model": "embed:cloud"}, []use{{"search", cloud}}, false},
		{"a reranker", map[string]any{"reranker.by": "endpoint", "reranker.url": "http://" + rank}, []use{{"reranker", rank}}, false},
		{"a reranker without models", map[string]any{"profile": "model-free", "reranker.by": "endpoint", "reranker.url": "http://" + rank}, []use{{"reranker", rank}}, false},
		{"a model that is a pointer", map[string]any{"model": pointed.Name}, []use{{"completion", far}}, false},
		{"a language's model that is a pointer", map[string]any{"completion.models": map[string]string{"python": pointed.Name}}, []use{{"completion of python", far}}, false},
		{"an embedding model that is a pointer", map[string]any{"embedding.model": pointed.Name}, []use{{"search", far}}, false},
		{"answers of the model", map[string]any{"model": sly.Name}, []use{{"completion", far}}, true},
		{"answers of a language's model", map[string]any{"completion.models": map[string]string{"python": sly.Name}}, []use{{"completion of python", far}}, true},
		{"answers of the embedding model", map[string]any{"embedding.model": sly.Name}, []use{{"search", far}}, true},
		{"answers of the reranker", map[string]any{"reranker.by": "endpoint", "reranker.url": sent.URL}, []use{{"reranker", far}}, true},
		{"two machines", map[string]any{"model": "big:cloud", "reranker.by": "endpoint", "reranker.url": "http://" + rank}, []use{{"completion", cloud}, {"reranker", rank}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fake := modeltest.NewServer(t)
			fake.SetCloud()
			fake.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "granite-embedding:30m"}, modeltest.Model{Name: "python:1b"}, modeltest.Model{Name: "py-cloud"}, pointed, sly)
			fake.ScriptEmbed(countLetters)
			fake.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"total", "\n"}} })
			set := map[string]any{"ollama.url": fake.URL, "ollama.allowRemote": true}
			for key, value := range tt.set {
				set[key] = value
			}
			raw, err := json.Marshal(set)
			if err != nil {
				t.Fatal(err)
			}
			userSettings(t, string(raw))
			withoutHost(t)
			root, state := t.TempDir(), t.TempDir()
			files := map[string]string{"a.py": "def total_of_shelves(values):\n    return \n"}
			for n := range 5 { // of one result there is nothing to judge
				files[fmt.Sprintf("b%d.go", n)] = fmt.Sprintf("package b\n\n// Total%d adds up the totals of all shelves.\nfunc Total%d(shelves []int) int { return shelves[%d] }\n", n, n, n)
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			quarry := func(args ...string) *exec.Cmd {
				cmd := exec.Command("quarry", append(args, "--state-dir", state)...) // its own process has its own proxy
				cmd.Env = append(os.Environ(), "http_proxy=", "no_proxy=", "HTTP_PROXY="+proxyTo(t, fake, local), "NO_PROXY=", "GORACE=atexit_sleep_ms=0")
				return cmd
			}
			profile, err := headless.LoadProfile("vscode")
			if err != nil {
				t.Fatal(err)
			}
			e, err := headless.StartProcess(t.Context(), quarry("lsp", "--log-level=error"), headless.Options{Profile: profile, Root: root})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Kill() // after Quit it has ended
			b, err := e.Open("a.py", "python", "def total_of_shelves(values):\n    return ")
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Seek("return "); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var st lsp.Status
			remote := func() (list []use) {
				for _, send := range st.Now.Sends {
					if send.Remote {
						list = append(list, use{send.Use, send.Host})
					}
				}
				return list
			}
			tick := time.NewTicker(50 * time.Millisecond)
			defer tick.Stop()
			seen := func() bool { return slices.Equal(remote(), tt.want) }
			for n := 0; ctx.Err() == nil && (!seen() || st.Model.Phase == "unknown" || st.Model.Phase == "loading"); n++ {
				if n < 3 || n%40 == 0 { // nothing is embedded while completions run
					if err := e.Complete(ctx, b, true); err != nil {
						t.Fatal(err)
					}
				}
				_ = e.Call(ctx, "quarry/search.hybrid", map[string]any{"query": "how are the totals of all shelves added up"}, nil) // what it finds is not looked at
				if err := e.Call(ctx, lsp.MethodStatus, nil, &st); err != nil {
					t.Fatalf("%v: %+v", err, st.Now.Sends)
				}
				<-tick.C
			}
			if !seen() || st.Model.Remote != (len(tt.want) > 0) {
				t.Errorf("quarry/status: %+v, remote %t, want %v", st.Now.Sends, st.Model.Remote, tt.want)
			}
			var metrics struct{ Text string }
			if err := e.Call(ctx, lsp.MethodMetrics, nil, &metrics); err != nil {
				t.Fatal(err)
			}
			if err := e.Await(ctx, func() bool {
				all := e.Statuses()
				var told lsp.StatusNote
				return len(all) > 0 && json.Unmarshal(all[len(all)-1], &told) == nil && !slices.ContainsFunc(tt.want, func(u use) bool { return !strings.Contains(told.Text, u.host) })
			}); err != nil {
				t.Errorf("the status bar: %v", err)
			}
			if _, err := e.Quit(ctx); err != nil {
				t.Error(err)
			}
			status, errStatus := quarry("status", "--workspace", root).CombinedOutput()
			doctor, _ := quarry("doctor", "--workspace", root).CombinedOutput() // not all of these models complete
			for what, text := range map[string]string{"status": string(status), "doctor": string(doctor)} {
				if leaves := strings.Contains(text, "leaves this machine"); leaves != (len(tt.want) > 0) {
					t.Errorf("quarry %s says that code leaves this machine: %t\n%s", what, leaves, text)
				}
			}
			stats, err := quarry("stats").CombinedOutput()
			if kept := strings.Contains(string(stats), "code leaves this machine: "); err != nil || kept && len(tt.want) == 0 {
				t.Errorf("quarry stats, %v:\n%s", err, stats)
			}
			for _, u := range tt.want {
				if u.use == "completion" && !strings.Contains(string(stats), " answers from "+u.host+"\n") {
					t.Errorf("quarry stats does not say %v:\n%s", u, stats)
				}
				if !strings.Contains(metrics.Text, "quarry_model_remote 1\n") || !slices.ContainsFunc(strings.Split(metrics.Text, "\n"), func(line string) bool {
					return strings.HasPrefix(line, "quarry_now_sends_remote{") && strings.Contains(line, fmt.Sprintf("use=%q", u.use)) && strings.Contains(line, fmt.Sprintf("host=%q", u.host)) && strings.HasSuffix(line, " 1")
				}) {
					t.Errorf("the metrics lack %v:\n%s", u, metrics.Text)
				}
				if flat := strings.Join(strings.Fields(string(doctor)), " "); !strings.Contains(flat, u.host+" (") || !strings.Contains(flat, u.use) {
					t.Errorf("doctor does not say %v:\n%s", u, doctor)
				}
				if !strings.Contains(string(status), u.host) || !tt.untold && !strings.Contains(string(status), u.use) || errStatus != nil {
					t.Errorf("quarry status, %v, does not say %v:\n%s", errStatus, u, status)
				}
			}
			if plain := strings.Contains(strings.Join(strings.Fields(string(doctor)), " "), "the API key goes to "+gpu+" over plain http"); plain != (set["ollama.apiKey"] != nil) || plain != strings.Contains(string(status), "over plain http") {
				t.Errorf("a key that everybody can read: %t in doctor\n%s\n%s", plain, doctor, status)
			}
			if len(tt.want) == 0 && (!strings.Contains(metrics.Text, "quarry_model_remote 0\n") || !strings.Contains(string(status), ", on this machine")) {
				t.Errorf("nothing leaves:\n%s\n%s", status, metrics.Text)
			}
		})
	}
}

// proxyTo is the address of a proxy for plain HTTP that has the fake Ollama answer for every machine but that of the
// reranker, for which judge does.
func proxyTo(t *testing.T, ollama *modeltest.Server, judge *httptest.Server) string {
	t.Helper()
	proxies := map[bool]*httputil.ReverseProxy{}
	for ranks, address := range map[bool]string{false: ollama.URL, true: judge.URL} {
		to, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		proxies[ranks] = httputil.NewSingleHostReverseProxy(to)
		proxies[ranks].FlushInterval = -1
		proxies[ranks].ErrorLog = log.New(io.Discard, "", 0) // who goes away says nothing
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The proxy would break off an answer that begins before it has seen the end of the body: its
		// own server closes that then.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // who is gone wants no answer
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxies[strings.HasPrefix(r.Host, "rank.")].ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
