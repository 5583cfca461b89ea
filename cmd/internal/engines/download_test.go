package engines

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model/catalogue"
	"quarry/model/download"
	"quarry/model/modeltest"
)

// Ollama names the files of a download one after the other, so that one that goes on would
// look complete after the first.
func TestADownloadThatGoesOnIsAsFarAsBefore(t *testing.T) {
	var d downloads
	start := func(name string) {
		t.Helper()
		if !d.begin(name, lsp.CommandPull, func(error) {}) {
			t.Fatalf("%s did not begin", name)
		}
	}
	is := func(percent int) {
		t.Helper()
		if p := d.state(); p.percent() != percent {
			t.Errorf("%s is at %d %%, want %d", p.name, p.percent(), percent)
		}
	}
	start("granite4.1:3b")
	d.progress("fetching it", 800, 800)
	d.progress("fetching it", 800, 2000)
	is(40)
	d.leave(lsp.ErrPaused)
	d.end(true)
	start("granite4.1:3b")
	is(40)
	d.progress("fetching it", 800, 800)
	is(40)
	d.progress("fetching it", 1500, 2000)
	is(75)
	d.leave(context.Canceled)
	d.end(false)
	start("another")
	d.progress("fetching it", 100, 400)
	is(25)
}

// halting keeps back what is behind the first bytes of an answer, until the client has gone.
type halting struct {
	http.ResponseWriter
	left int
	gone <-chan struct{}
}

func (h *halting) Write(b []byte) (int, error) {
	n, err := h.ResponseWriter.Write(b[:min(h.left, len(b))])
	if h.left -= n; err == nil && n < len(b) {
		h.ResponseWriter.(http.Flusher).Flush()
		<-h.gone
		err = http.ErrAbortHandler
	}
	return n, err
}

// A cancelled download says what it has left and what goes on with it, cancelled while it is under way or when it is paused.
func TestACancelledDownloadSaysWhatItLeaves(t *testing.T) {
	emptyConfig(t)
	weights := make([]byte, 12_000_000)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(&halting{w, 5_000_000, r.Context().Done()}, r, "", time.Time{}, bytes.NewReader(weights))
	}))
	defer web.Close()
	entry := func(name string) string { // the file has two names
		return fmt.Sprintf(`{"name": %q, "use": "completion", "download": %d, "url": "%s/a.gguf", "sha256": "%x"}`, name, len(weights), web.URL, sha256.Sum256(weights))
	}
	own := `{"version": 1, "models": [` + entry("theirs:1m") + ", " + entry("ours:1m") + `]}`
	if err := errors.Join(os.MkdirAll(filepath.Dir(CataloguePath()), 0o700), os.WriteFile(CataloguePath(), []byte(own), 0o600)); err != nil {
		t.Fatal(err)
	}
	fake, state := modeltest.NewServer(t), t.TempDir()
	s := settings.Default()
	s.Ollama.URL = fake.URL
	c := New(lsp.Start{
		Settings: s, Notify: (&told{}).notify, Job: func(string, func()) lsp.Job { return saying{&[]string{}} }, Changed: func() {},
	}, Options{StateDir: state, Log: slog.New(slog.DiscardHandler)})
	defer c.Close()
	says := func(left error) {
		t.Helper()
		files, err := download.FindLeft(filepath.Join(state, "models"))
		if err != nil || len(files) != 1 || files[0].Bytes < 1e6 {
			t.Fatalf("%+v, %v", files, err)
		}
		want := catalogue.Gigabytes(files[0].Bytes) + " are kept: pull again to resume, or remove them with `quarry model clean` (ours:1m)"
		if left == nil || left.Error() != want {
			t.Errorf("it says %v, want %s", left, want)
		}
	}
	stopped := func(stop func()) error {
		t.Helper()
		return c.PullModel(t.Context(), "ours:1m", func(_ string, done, _ int64) {
			if done >= 5_000_000 {
				stop()
			}
		})
	}
	until(t, c, "the model of the settings is ready", func() bool { return c.StatusNote(t.Context()).Model.State == lsp.ModelReady })
	var during lsp.NoteModel
	err := stopped(func() {
		during = c.StatusNote(t.Context()).Model
		_ = c.CancelDownload(t.Context())
	})
	if during.State != lsp.ModelReady || during.Download != "ours:1m" || during.Percent == nil || *during.Percent < 41 || during.Reason != "" {
		t.Errorf("beside a model that is ready: %+v", during)
	}
	if after := c.StatusNote(t.Context()).Model; after.Percent != nil || after.Download != "" {
		t.Errorf("when it is over: %+v", after)
	}
	var cancelled *lsp.CancelledError
	if !errors.As(err, &cancelled) || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	says(err)
	if err := stopped(c.PauseDownload); !errors.Is(err, lsp.ErrPaused) {
		t.Fatal(err)
	}
	says(c.CancelDownload(t.Context()))
	if _, name := c.PausedDownload(); name != "" {
		t.Errorf("%s is paused", name)
	}
	fake.SetModels()
	c.lookAgain()
	until(t, c, "it is gone", func() bool { return c.StatusNote(t.Context()).Model.State == lsp.ModelNone })
	_ = stopped(func() {
		during = c.StatusNote(t.Context()).Model
		_ = c.CancelDownload(t.Context())
	})
	if during.State != lsp.ModelLoading || !strings.HasPrefix(during.Reason, "fetching ours:1m: ") || !strings.HasSuffix(during.Reason, " MB of 12 MB") || strings.Contains(during.Reason, "Ollama") {
		t.Errorf("without a model: %+v", during)
	}
	if again := c.CancelDownload(t.Context()); again != nil {
		t.Errorf("none was under way: %v", again)
	}
}
