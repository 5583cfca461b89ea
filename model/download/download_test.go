package download_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"quarry/model/download"
)

// childEnv tells a process of this test binary to be TestKilled's child.
const childEnv = "QUARRY_TEST_DOWNLOAD"

func TestMain(m *testing.M) {
	if args := strings.Fields(os.Getenv(childEnv)); len(args) == 3 {
		f := download.File{URL: args[0], SHA256: args[1], Size: size}
		_, err := download.Fetch(context.Background(), f, args[2], download.Options{Part: part})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

const (
	size = 1<<20 + 17
	part = 64 << 10
)

// content is the file that servers have.
var content = func() []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}()

func file(url string) download.File {
	return download.File{URL: url + "/model.gguf", SHA256: fmt.Sprintf("%x", sha256.Sum256(content)), Size: size}
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func whole(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// fetched fails unless path is the file, and nothing else is in its folder.
func fetched(t *testing.T, path string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("beside the file: %v", entries)
	}
}

func TestFetch(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"ranges":    whole,
		"no ranges": func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(content) },
		"moved": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/model.gguf" {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
				return
			}
			whole(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			last := int64(-1)
			path, err := download.Fetch(t.Context(), file(serve(t, handler).URL), filepath.Join(t.TempDir(), "models"), download.Options{
				Part: part, Report: func(done int64) {
					if done < last {
						t.Errorf("%d after %d", done, last)
					}
					last = done
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			fetched(t, path)
			if last != size {
				t.Errorf("%d of %d bytes told", last, size)
			}
			// What is there is not fetched again.
			if _, err := download.Fetch(t.Context(), download.File{URL: "http://127.0.0.1:9/", SHA256: filepath.Base(path), Size: size}, filepath.Dir(path), download.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// From a server that sends no parts, as many simple ones, a file comes in one go: no part is had by
// throwing away all that stands before it. What breaks off begins anew, and not for ever.
func TestServerWithoutRanges(t *testing.T) {
	for breaks, works := range map[int64]bool{0: true, 3: true, 1000: false} {
		synctest.Test(t, func(t *testing.T) {
			var asked, wholly, sent atomic.Int64
			path, err := download.Fetch(t.Context(), file("https://models.example"), t.TempDir(), download.Options{
				Part: part, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
					asked.Add(1)
					body := bytes.NewReader(content)
					if r.Header.Get("Range") == fmt.Sprintf("bytes=0-%d", size-1) && wholly.Add(1) <= breaks {
						body = bytes.NewReader(content[:size/2])
					}
					return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(&countedReader{body, &sent})}, nil
				}),
			})
			if works {
				if err != nil {
					t.Fatal(err)
				}
				fetched(t, path)
			} else if err == nil || !strings.Contains(err.Error(), "sends no parts of a file") {
				t.Errorf("%v", err)
			}
			if most := (3 + breaks/2) * size; works && sent.Load() > most {
				t.Errorf("%d bytes were sent for %d", sent.Load(), size)
			}
			// Each of four asks for a part and fails, one of them after the first part; five times it is asked for all.
			if asked.Load() > 4+1+5 {
				t.Errorf("asked %d times", asked.Load())
			}
		})
	}
}

type countedReader struct {
	io.Reader
	n *atomic.Int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// A server that breaks off, fails for a moment or wants to be asked later is asked
// again, for what is missing only.
func TestServersThatFail(t *testing.T) {
	var asked, sent atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch n := asked.Add(1); {
		case n%7 == 0:
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		case n%2 == 0:
			w = &dying{ResponseWriter: w, left: 30_000}
		}
		counted := &counter{ResponseWriter: w, n: &sent}
		whole(counted, r)
	})
	path, err := download.Fetch(t.Context(), file(s.URL), t.TempDir(), download.Options{Part: part})
	if err != nil {
		t.Fatal(err)
	}
	fetched(t, path)
	if n := sent.Load(); n > size+asked.Load()*(32<<10) {
		t.Errorf("%d bytes were sent for %d in %d requests", n, size, asked.Load())
	}
}

// dying breaks the connection after so many bytes.
type dying struct {
	http.ResponseWriter
	left int
}

func (d *dying) Write(p []byte) (int, error) {
	if len(p) > d.left {
		_, _ = d.ResponseWriter.Write(p[:d.left])
		panic(http.ErrAbortHandler)
	}
	d.left -= len(p)
	return d.ResponseWriter.Write(p)
}

type counter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// What asking again does not mend is said at once, and nothing wrong is kept.
func TestRefusals(t *testing.T) {
	spoilt := bytes.Clone(content)
	spoilt[size/2] ^= 1
	plain := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		says    string
	}{
		"another file": {func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(spoilt))
		}, "another sum"},
		"a shorter file": {func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content[:size-1000]))
		}, fmt.Sprintf("the server's file has %d bytes", size-1000)},
		"absent":    {plain(http.StatusNotFound), "404"},
		"forbidden": {plain(http.StatusForbidden), "403"},
		"unsafe redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://models.example/model.gguf", http.StatusFound)
		}, "not safe"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.handler)
			dir := t.TempDir()
			_, err := download.Fetch(t.Context(), file(s.URL), dir, download.Options{Part: part, Parallel: 1})
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "model.gguf") {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, file(s.URL).SHA256)); err == nil {
				t.Error("something has the file's name")
			}
			if name == "another file" {
				if !errors.Is(err, download.ErrSum) {
					t.Error("not ErrSum")
				}
				if entries, _ := os.ReadDir(dir); len(entries) != 0 {
					t.Errorf("kept: %v", entries)
				}
			}
		})
	}
	for says, f := range map[string]download.File{
		"over https":    {URL: "http://models.example/x", SHA256: strings.Repeat("0", 64), Size: 1},
		"64 small":      {URL: "https://models.example/x", SHA256: "00", Size: 1},
		"names no size": {URL: "https://models.example/x", SHA256: strings.Repeat("0", 64)},
	} {
		if _, err := download.Fetch(t.Context(), f, t.TempDir(), download.Options{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// answered is a transport that answers every request by itself.
type answered func(*http.Request) *http.Response

func (a answered) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

// A server elsewhere sends nobody to what this machine serves to itself.
func TestRedirectsToThisMachine(t *testing.T) {
	for _, target := range []string{"http://127.0.0.1:11434/api/tags", "http://localhost/x", "https://[::1]/x", "http://127.9.9.9/x"} {
		asked := 0
		_, err := download.Fetch(t.Context(), download.File{URL: "https://models.example/model.gguf", SHA256: strings.Repeat("0", 64), Size: 1}, t.TempDir(), download.Options{
			Parallel: 1,
			Transport: answered(func(r *http.Request) *http.Response {
				if r.URL.Host != "models.example" {
					t.Errorf("%s was asked", r.URL)
				}
				asked++
				w := httptest.NewRecorder()
				http.Redirect(w, r, target, http.StatusFound)
				return w.Result()
			}),
		})
		if err == nil || !strings.Contains(err.Error(), "not safe") || asked != 1 {
			t.Errorf("%s: asked %d times, %v", target, asked, err)
		}
	}
}

// A full disk is known before the first byte, and what is there already counts.
func TestFullDisk(t *testing.T) {
	s := serve(t, whole)
	dir := t.TempDir()
	_, err := download.Fetch(t.Context(), file(s.URL), dir, download.Options{Free: func(string) (int64, bool) { return size - 1, true }})
	var full *download.RoomError
	if !errors.As(err, &full) || *full != (download.RoomError{Dir: dir, Need: size, Left: size - 1}) {
		t.Errorf("%v", err)
	}
	if _, err := download.Fetch(t.Context(), file(s.URL), dir, download.Options{Beside: 1, Free: func(string) (int64, bool) { return size, true }}); err == nil || !strings.Contains(err.Error(), "make room") {
		t.Errorf("with no room for what is done with it: %v", err)
	}
	if _, err := download.Fetch(t.Context(), file(s.URL), dir, download.Options{Free: func(string) (int64, bool) { return size, true }}); err != nil {
		t.Error(err)
	}
}

// A file of another length, or one that is sent from elsewhere than was asked for, is refused before a byte of it is kept, so
// that the right one comes whole from another address.
func TestWrongFile(t *testing.T) {
	page := []byte(strings.Repeat("not here ", 20))
	ranged := func(span string, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes "+span)
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(body) // who has hung up needs nothing
		}
	}
	length := fmt.Sprintf("the server's file has 180 bytes, and the catalogue says %d: correct url or download there", size)
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"a page, as a part": {ranged("0-179/180", page), length},
		"a page":            {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) }, length},
		"a page that is short": {func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(page))
		}, length},
		"nothing there": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes */180")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		}, length},
		"shifted": {ranged(fmt.Sprintf("1-%d/%d", size-1, size), content[1:]), "from byte 1, and was asked for it from byte 0"},
	} {
		s, dir := serve(t, test.answer), t.TempDir()
		if _, err := download.Fetch(t.Context(), file(s.URL), dir, download.Options{Parallel: 1}); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := download.FindLeft(dir); err != nil || len(left) > 0 && left[0].Bytes > 0 {
			t.Errorf("%s: kept %+v, %v", name, left, err)
		}
		path, err := download.Fetch(t.Context(), file(serve(t, whole).URL), dir, download.Options{})
		if err != nil {
			t.Fatalf("%s, then the right one: %v", name, err)
		}
		fetched(t, path)
	}
}

// What is wrong and was kept from before is gone after one more try, which says so.
func TestWrongFromBefore(t *testing.T) {
	s, dir := serve(t, whole), t.TempDir()
	at := filepath.Join(dir, file(s.URL).SHA256)
	if err := errors.Join(os.WriteFile(at+".part", make([]byte, 180), 0o600), os.WriteFile(at+".parts", fmt.Appendf(nil, "%d 0 180\n", part), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := download.Fetch(t.Context(), file(s.URL), dir, download.Options{Part: part}); !errors.Is(err, download.ErrSum) || !strings.Contains(err.Error(), "try again, which begins anew") {
		t.Errorf("%v", err)
	}
	path, err := download.Fetch(t.Context(), file(s.URL), dir, download.Options{Part: part})
	if err != nil {
		t.Fatal(err)
	}
	fetched(t, path)
}

// Only one at a time fetches a file.
func TestTwoAtOnce(t *testing.T) {
	began, goOn := make(chan bool), make(chan bool)
	var once sync.Once
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(began) })
		<-goOn
		whole(w, r)
	})
	dir := t.TempDir()
	first := make(chan error, 1)
	go func() {
		_, err := download.Fetch(t.Context(), file(s.URL), dir, download.Options{})
		first <- err
	}()
	<-began
	if _, err := download.Fetch(t.Context(), file(s.URL), dir, download.Options{}); err == nil || !strings.Contains(err.Error(), "another quarry") {
		t.Errorf("%v", err)
	}
	close(goOn)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// A server that sends nothing more is left and asked again.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		transport := roundTripper(func(r *http.Request) (*http.Response, error) {
			if asked.Add(1) == 1 {
				return &http.Response{StatusCode: http.StatusPartialContent, Body: io.NopCloser(silent{r.Context()})}, nil
			}
			w := httptest.NewRecorder()
			whole(w, r)
			return w.Result(), nil
		})
		path, err := download.Fetch(t.Context(), file("https://models.example"), t.TempDir(), download.Options{Parallel: 1, Transport: transport})
		if err != nil {
			t.Fatal(err)
		}
		fetched(t, path)
		if asked.Load() != 2 {
			t.Errorf("asked %d times", asked.Load())
		}
	})
}

// A server that stays down is asked some times, ever more seldom, and then given up;
// what it says of when to come back is kept to.
func TestServerThatStaysDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		transport := roundTripper(func(*http.Request) (*http.Response, error) {
			at = append(at, time.Since(start))
			w := httptest.NewRecorder()
			if len(at) == 1 {
				w.Header().Set("Retry-After", "7")
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return w.Result(), nil
		})
		_, err := download.Fetch(t.Context(), file("https://models.example"), t.TempDir(), download.Options{Parallel: 1, Transport: transport})
		if err == nil || !strings.Contains(err.Error(), "asked 5 times") {
			t.Errorf("%v", err)
		}
		want := []time.Duration{0, 7 * time.Second, 7400 * time.Millisecond, 8200 * time.Millisecond, 9800 * time.Millisecond}
		if !slices.Equal(at, want) {
			t.Errorf("asked at %v, want %v", at, want)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// silent says nothing until nobody listens any more.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// A process killed at any moment leaves what the next one goes on from: the file comes
// whole, and little is fetched twice.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 50 processes: left out by -short")
	}
	var sent atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		whole(&counter{ResponseWriter: &slow{w}, n: &sent}, r)
	})
	dir, f := t.TempDir(), file(s.URL)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const kills = 50
	random := rand.New(rand.NewPCG(1, 2))
	for range kills {
		child := exec.Command(exe)
		child.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{f.URL, f.SHA256, dir}, " "))
		// A number of bytes and not a time: the same moments on a slow machine.
		until := sent.Load() + random.Int64N(2*part)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- child.Wait() }()
		tick := time.NewTicker(time.Millisecond)
	wait:
		for sent.Load() < until {
			select {
			case <-ended:
				ended <- nil
				break wait
			case <-tick.C:
			}
		}
		tick.Stop()
		_ = child.Process.Kill() // it may have ended
		<-ended
		if raw, err := os.ReadFile(filepath.Join(dir, f.SHA256)); err == nil && !bytes.Equal(raw, content) {
			t.Fatalf("%d wrong bytes have the file's name", len(raw))
		}
	}
	path, err := download.Fetch(t.Context(), f, dir, download.Options{Part: part})
	if err != nil {
		t.Fatal(err)
	}
	fetched(t, path)
	// Each kill costs at most the parts that were on their way, and what the server had
	// sent before it noticed.
	if n := sent.Load(); n > size+(kills+1)*2*4*part {
		t.Errorf("%d bytes were sent for %d", n, size)
	}
}

// slow writes in small pieces, so that kills come between them.
type slow struct{ http.ResponseWriter }

func (s *slow) Write(p []byte) (int, error) {
	n := 0
	for len(p) > 0 {
		k, err := s.ResponseWriter.Write(p[:min(len(p), 4<<10)])
		n += k
		if err != nil {
			return n, err
		}
		if f, ok := s.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		p = p[k:]
	}
	return n, nil
}

// A sum that is no longer wanted ends at once: a file of some GB takes seconds.
func TestSumOfStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(path, make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var read int64
	sum, err := download.SumOf(ctx, path, func(done int64) { read = done; cancel() })
	if !errors.Is(err, context.Canceled) || sum != "" || read >= 3<<20 {
		t.Errorf("%q after %d bytes, %v", sum, read, err)
	}
}
