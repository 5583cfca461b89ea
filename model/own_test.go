package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quarry/model"
)

// finishing is how long the answer to a request of quarry's own may go on, as docs/models.md says.
const finishing = 30 * time.Second

// dripping is a server that answers all but one path, and goes on without end there: it sends a piece at each receive from more.
// asked is received from when the path is asked.
func dripping(t *testing.T, path, piece string, among func(body string) bool) (s *httptest.Server, more, asked chan struct{}) {
	t.Helper()
	more, asked = make(chan struct{}), make(chan struct{})
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil:
			return
		case r.URL.Path != path || !among(string(body)):
			switch r.URL.Path {
			case "/v1/completions":
				io.WriteString(w, `data: {"choices":[{"text":"1","finish_reason":"stop"}],"usage":{"prompt_tokens":3}}`+"\n\ndata: [DONE]\n\n")
			default:
				io.WriteString(w, `{"version":"0.17.4","models":[],"data":[{"id":"granite4.1:3b"}],"model_info":{},"done":true,"embeddings":[]}`)
			}
			return
		}
		send := func() {
			io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
		select {
		case asked <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		for {
			select {
			case <-more:
				send()
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s, more, asked
}

// A server that drips words and is never done has half a minute from its first one on, whatever quarry asks it for itself. Before
// that it may be silent for as long as a load takes.
func TestAnAnswerThatIsNeverDone(t *testing.T) {
	any := func(string) bool { return true }
	loads := func(body string) bool { return strings.Contains(body, `"prompt":""`) }
	for name, test := range map[string]struct {
		api         model.API
		path, piece string
		among       func(body string) bool
	}{
		"load":        {model.OllamaAPI, "/api/generate", "{\"response\":\"a \"}\n", loads},
		"load, blank": {model.OllamaAPI, "/api/generate", "\n", loads},
		"canary":      {model.OllamaAPI, "/api/generate", "{\"response\":\"a \"}\n", func(body string) bool { return !loads(body) }},
		"completions": {model.OpenAIAPI, "/v1/completions", `data: {"choices":[{"text":"a "}]}` + "\n\n", any},
	} {
		t.Run(name, func(t *testing.T) {
			s, more, asked := dripping(t, test.path, test.piece, test.among)
			clock, failed := newManualClock(), make(chan model.State, 1)
			opt := options(s.URL)
			opt.API, opt.Clock = test.api, clock
			opt.OnChange = func(st model.State) {
				if st.Phase != model.Loading {
					select {
					case failed <- st:
					default: // it is asked again
					}
				}
			}
			start(t, opt)
			<-asked
			if strings.HasPrefix(name, "load") {
				clock.advance(9 * time.Minute) // a large model from a slow disk
			}
			more <- struct{}{}
			var st model.State
			for pieces := 1; st.Phase == ""; pieces++ {
				if test.api == model.OpenAIAPI { // what is heard ends its silence, which may be as long
					eventually(t, "it is heard", func() bool { return clock.due(finishing) || len(failed) > 0 })
				}
				clock.advance(finishing / 10)
				select {
				case more <- struct{}{}:
				case st = <-failed:
				case <-soon(t).Done():
					t.Fatal("no end after ", pieces)
				}
			}
			says := strings.TrimPrefix(s.URL, "http://") + " does not finish its answers: restart it, or check the address"
			if st.Phase != model.Failing || !errors.Is(st.Err, model.ErrServer) || !strings.HasPrefix(st.Err.Error(), says) || !strings.Contains(st.Err.Error(), "30 s") {
				t.Errorf("the user reads %q, want %q", st.Err, says)
			}
		})
	}
}

// The check-up says the same, and so does that of an embedder.
func TestCheckOfAServerThatIsNeverDone(t *testing.T) {
	for path, check := range map[string]func(context.Context, *model.Runtime) []model.Finding{
		"/api/generate": func(ctx context.Context, o *model.Runtime) []model.Finding { return o.Check(ctx) },
		"/api/embed":    func(ctx context.Context, o *model.Runtime) []model.Finding { return o.NewEmbedder("bert").Check(ctx) },
	} {
		t.Run(path, func(t *testing.T) {
			s, more, asked := dripping(t, path, "\n", func(string) bool { return true })
			clock := newManualClock()
			opt := options(s.URL)
			opt.Clock = clock
			o, err := model.New(opt)
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			found := make(chan []model.Finding, 1)
			go func() { found <- check(soon(t), o) }()
			<-asked
			more <- struct{}{}
			var list []model.Finding
			for list == nil {
				clock.advance(finishing / 10)
				select {
				case more <- struct{}{}:
				case list = <-found:
				case <-soon(t).Done():
					t.Fatal("no end")
				}
			}
			f := list[len(list)-1]
			if says := fmt.Sprintf("%s does not finish its answers", strings.TrimPrefix(s.URL, "http://")); f.OK || f.Detail != says || !strings.HasPrefix(f.Fix, "restart it") {
				t.Errorf("%+v", f)
			}
		})
	}
}

// What a user asked for has no such limit: a completion goes on until it is done.
func TestAUsersAnswerHasNoLimitOfQuarrysOwn(t *testing.T) {
	s, more, asked := dripping(t, "/api/generate", "{\"response\":\"a \"}\n", func(body string) bool { return strings.Contains(body, "theirs") })
	clock := newManualClock()
	opt := options(s.URL)
	opt.Clock, opt.Families = clock, nil
	o := ready(t, opt)
	pieces := make(chan string)
	ctx, cancel := context.WithCancel(soon(t))
	ended := make(chan error, 1)
	go func() {
		_, err := o.Generate(ctx, fim("theirs", ""), 500, nil, 0, func(text string, _ float64) bool { pieces <- text; return true })
		ended <- err
	}()
	<-asked
	for range 5 {
		more <- struct{}{}
		<-pieces
		clock.advance(finishing)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
