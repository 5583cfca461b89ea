package download_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"quarry/model/download"
)

// On a slow line a session ends long before a part is whole: the next one goes on to the byte, and the file comes whole.
func TestShortSessions(t *testing.T) {
	var sent atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		whole(&counter{ResponseWriter: &slow{w}, n: &sent}, r)
	})
	dir, f := t.TempDir(), file(s.URL)
	const each, most = 100_000, size/100_000 + 1
	for session := 1; ; session++ {
		if session > most {
			t.Fatalf("not whole after %d sessions", most)
		}
		ctx, cancel := context.WithCancel(t.Context())
		begin, last := int64(-1), int64(0)
		path, err := download.Fetch(ctx, f, dir, download.Options{Note: time.Hour, Report: func(done int64) {
			if begin < 0 {
				begin = done
			}
			if last = done; done-begin >= each {
				cancel()
			}
		}})
		cancel()
		if err == nil {
			fetched(t, path)
			return
		}
		left, err := download.FindLeft(dir)
		if err != nil || len(left) != 1 || left[0].Bytes != last || left[0].Whole {
			t.Fatalf("of %d bytes: %+v, %v", last, left, err)
		}
	}
}

// What a part has is noted while it comes, for who is killed.
func TestNotedWhileItComes(t *testing.T) {
	const half = size / 2
	goOn := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", size-1, size))
		w.Header().Set("Content-Length", fmt.Sprint(size))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(content[:half])
		_ = http.NewResponseController(w).Flush()
		<-goOn
		_, _ = w.Write(content[half:])
	})
	dir, f := t.TempDir(), file(s.URL)
	ended := make(chan error, 1)
	go func() {
		_, err := download.Fetch(t.Context(), f, dir, download.Options{Note: time.Nanosecond})
		ended <- err
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for noted := int64(0); noted < half; {
		select {
		case <-tick.C:
			if left, err := download.FindLeft(dir); err == nil && len(left) == 1 && left[0].Bytes < size {
				noted = left[0].Bytes
			}
		case err := <-ended:
			t.Fatal(err)
		case <-t.Context().Done():
			t.Fatalf("%d of %d bytes are noted", noted, half)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(dir, f.SHA256+".part")); err != nil || !bytes.Equal(raw[:half], content[:half]) {
		t.Errorf("what is noted is not there: %v", err)
	}
	close(goOn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A line of the log that a crash cut off says nothing, nor does it spoil the next one.
func TestLogThatWasCutOff(t *testing.T) {
	var sent atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { whole(&counter{ResponseWriter: w, n: &sent}, r) })
	for log, missing := range map[string]int64{
		fmt.Sprintf("%d 0\n%d 1 1000\n", part, part):                 size - part - 1000,
		fmt.Sprintf("%d 0\n%d 1", part, part):                        size - part, // the start of what is above
		fmt.Sprintf("%d 0 x\n%d 0 5 5\n-1 0\n", part, part):          size,
		fmt.Sprintf("%d 1 70000\n", part):                            size - part,
		fmt.Sprintf("%d 0\n%d 9999 1\n%d 0 7\n", 2*part, part, part): size - 7,
	} {
		dir, f := t.TempDir(), file(s.URL)
		at := filepath.Join(dir, f.SHA256)
		if err := os.WriteFile(at+".part", content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at+".parts", []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		sent.Store(0)
		path, err := download.Fetch(t.Context(), f, dir, download.Options{Part: part})
		if err != nil {
			t.Fatal(err)
		}
		fetched(t, path)
		if n := sent.Load(); n != missing {
			t.Errorf("%q: %d bytes were sent, want %d", log, n, missing)
		}
	}
}
