// Package download fetches large files whose sum is known: in parts, several at once,
// going on where it was after a crash, and never leaving anything but the whole and
// right file under its name.
package download

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// A File is what to fetch.
type File struct {
	// URL is https, or http to this machine.
	URL string
	// SHA256 is the file's sum in hexadecimal digits, and Size its length in bytes: a
	// server that sends anything else is not believed.
	SHA256 string
	Size   int64
}

// Options say how to fetch. The zero value is the usual way.
type Options struct {
	// Parallel is how many parts are fetched at once; 0 means 4.
	Parallel int
	// Part is the size of a part in bytes; 0 means 8 MiB.
	Part int64
	// Stall is how long a server may send nothing before it is asked again; 0 means
	// half a minute.
	Stall time.Duration
	// Note is how often what has come of a part is noted, so that the next Fetch goes on from there; 0 means every second.
	// It is noted whenever a connection ends, too.
	Note time.Duration
	// Report is told how many bytes there are. It is called from one goroutine at a time.
	Report func(done int64)
	// Free is how many bytes the disk of a folder has left, if that is known; nil means
	// that it is not.
	Free func(dir string) (bytes int64, ok bool)
	// Beside is how many bytes that disk must have for what is done with the file then.
	Beside int64
	// Transport is http.DefaultTransport if nil.
	Transport http.RoundTripper
}

// tries is how often in a row a part may fail without a byte coming.
const tries = 5

// ErrSum: what came is not the file that was asked for. Nothing of it is kept.
var ErrSum = errors.New("the server's file has another sum than the catalogue names")

// A RoomError says that the disk of a folder has fewer bytes left than are needed. Nothing was fetched.
type RoomError struct {
	Dir        string
	Need, Left int64
}

func (e *RoomError) Error() string {
	return fmt.Sprintf("make room: %d bytes more are needed, and the disk of %s has %d left", e.Need, e.Dir, e.Left)
}

// fetch is a File on its way.
type fetch struct {
	File
	Options
	client *http.Client
	part   *os.File // the file, as far as it is there
	log    *os.File // what is there of each part, as in notes

	begun map[int]int64 // how many bytes of each part were there

	mu       sync.Mutex // guards have, reported, Report and what is written to log
	have     int64      // bytes
	reported int64      // the most that Report was given
}

// Fetch brings the file into dir and answers its path there, named by its sum. What an
// earlier Fetch left is used, whatever ended it.
func Fetch(ctx context.Context, f File, dir string, opt Options) (path string, err error) {
	if err := f.Check(); err != nil {
		return "", err
	}
	if opt.Parallel == 0 {
		opt.Parallel = 4
	}
	if opt.Part == 0 {
		opt.Part = 8 << 20
	}
	if opt.Stall == 0 {
		opt.Stall = 30 * time.Second
	}
	if opt.Note == 0 {
		opt.Note = time.Second
	}
	if opt.Report == nil {
		opt.Report = func(int64) {}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path = filepath.Join(dir, f.SHA256)
	lock := flock.New(path + ".lock")
	if ok, err := lock.TryLock(); err != nil || !ok {
		return "", errors.Join(fmt.Errorf("wait, another quarry fetches %s: ask again when it has ended", f.URL), err)
	}
	// Who takes the lock before it is removed may fetch beside the next one: both write the same bytes to the same
	// places. Windows removes no file that is open, so that it is left first, and what another has by then stays.
	defer func() {
		err = errors.Join(err, lock.Unlock())
		_ = os.Remove(lock.Path())
	}()
	if sum, err := SumOf(ctx, path, func(int64) {}); err == nil && sum == f.SHA256 {
		opt.Report(f.Size)
		return path, nil
	}
	t := &fetch{File: f, Options: opt, client: f.client(opt.Transport), begun: map[int]int64{}}
	if err := t.open(path); err != nil {
		return "", err
	}
	defer t.close()
	if free, ok := t.room(dir); ok && free < f.Size-t.have+t.Beside {
		return "", &RoomError{Dir: dir, Need: f.Size - t.have + t.Beside, Left: free}
	}
	err = t.parts(ctx)
	if errors.Is(err, errNoRanges) {
		err = t.inOneGo(ctx)
	}
	if err != nil {
		return "", err
	}
	return path, t.finish(ctx, path)
}

// Check says what is wrong with f itself.
func (f *File) Check() error {
	u, err := url.Parse(f.URL)
	if err != nil {
		return err
	}
	if !secure(u) {
		return fmt.Errorf("%s: models come over https, or over http from this machine", f.URL)
	}
	if !IsSum(f.SHA256) {
		return fmt.Errorf("%s: the catalogue's sha256 %q has not 64 small hexadecimal digits", f.URL, f.SHA256)
	}
	if f.Size <= 0 {
		return fmt.Errorf("%s: the catalogue names no size", f.URL)
	}
	return nil
}

// SumDigits is how many digits a sum has.
const SumDigits = 2 * sha256.Size

// IsSum is whether a text is a sha256 as a File has it.
func IsSum(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == SumDigits && text == strings.ToLower(text)
}

// secure is whether nobody on the way can read or change what comes from u.
func secure(u *url.URL) bool {
	if u.Scheme == "https" {
		return true
	}
	return u.Scheme == "http" && here(u)
}

// here is whether u is an address of this machine alone.
func here(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func (f *File) client(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		const most = 10
		// A server elsewhere has no business with what this machine serves to itself.
		if len(via) > most || !secure(r.URL) || here(r.URL) && !here(via[0].URL) {
			return &finalError{fmt.Errorf("%s sends its readers to %s, which is not safe", f.URL, r.URL.Redacted())}
		}
		return nil
	}}
}

func (t *fetch) room(dir string) (int64, bool) {
	if t.Free == nil {
		return 0, false
	}
	return t.Free(dir)
}

// open takes up what is there. What the log says is on the disk: it is written after that.
func (t *fetch) open(path string) (err error) {
	if t.part, err = os.OpenFile(path+".part", os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	if t.log, err = os.OpenFile(path+".parts", os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		t.part.Close()
		return err
	}
	info, err := t.part.Stat()
	if err != nil {
		t.close()
		return err
	}
	list, cut := notes(t.log)
	if cut {
		if _, err := fmt.Fprintln(t.log, " cut"); err != nil { // so that it is not taken for a whole line
			t.close()
			return err
		}
	}
	for at, bytes := range list {
		from, to := t.span(at.number)
		if bytes = min(bytes, to-from); at.size == t.Part && from < t.Size && from+bytes <= info.Size() {
			t.begun[at.number] = bytes
			t.have += bytes
		}
	}
	if info.Size() > t.Size {
		return t.part.Truncate(t.Size)
	}
	return nil
}

// noted is a part of a file that is fetched in parts of a size.
type noted struct {
	size   int64
	number int
}

// notes are how many bytes, from its start on, a log says that there are of each part. Each of its lines names the parts'
// size and a part's number, and the bytes unless it is whole. cut: a crash cut the last one off.
func notes(log io.Reader) (list map[noted]int64, cut bool) {
	list = map[noted]int64{}
	for lines := bufio.NewReader(log); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return list, line != ""
		}
		var n []int64
		for _, field := range strings.Fields(line) {
			number, err := strconv.ParseInt(field, 10, 32)
			if err != nil || number < 0 {
				n = nil
				break
			}
			n = append(n, number)
		}
		if len(n) == 2 { // the whole part
			n = append(n, n[0])
		}
		if len(n) == 3 {
			at := noted{n[0], int(n[1])}
			list[at] = max(list[at], min(n[2], at.size))
		}
	}
}

// note writes to the log that so many bytes of a part are there, once they are on the disk.
func (t *fetch) note(part int, bytes int64) error {
	if err := t.part.Sync(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := fmt.Fprintf(t.log, "%d %d %d\n", t.Part, part, bytes)
	return err
}

func (t *fetch) close() {
	t.part.Close()
	t.log.Close()
}

// span is the bytes [from, to) of part n.
func (t *fetch) span(n int) (from, to int64) {
	return int64(n) * t.Part, min(int64(n+1)*t.Part, t.Size)
}

// parts fetches those that are missing.
func (t *fetch) parts(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t.add(0)
	missing := make(chan int)
	var workers sync.WaitGroup
	for range t.Parallel {
		workers.Go(func() {
			for n := range missing {
				if ctx.Err() != nil {
					continue // it was handed out as another part failed
				}
				if err := t.fetchPart(ctx, n); err != nil {
					cancel(err)
				}
			}
		})
	}
	count := int((t.Size + t.Part - 1) / t.Part)
feed:
	for n := range count {
		if from, to := t.span(n); t.begun[n] == to-from {
			continue
		}
		select {
		case missing <- n:
		case <-ctx.Done():
			break feed
		}
	}
	close(missing)
	workers.Wait()
	return context.Cause(ctx)
}

// add tells that n bytes more are there, or fewer.
func (t *fetch) add(n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.have += n
	if t.have > t.reported || n == 0 { // a file that is fetched in one go begins anew
		t.reported = t.have
		t.Report(t.have)
	}
}

// fetchPart fetches a part, asking again where a server stalls or fails for a moment.
func (t *fetch) fetchPart(ctx context.Context, n int) error {
	start, to := t.span(n)
	from := start + t.begun[n]
	for failed := 0; from < to; {
		got, err := t.read(ctx, from, to, func(upTo int64) error { return t.note(n, upTo-start) })
		from += got
		var final *finalError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &final):
			return fmt.Errorf("%s: %w", t.URL, final.error)
		case err == nil:
		case got > 0:
			failed = 0
		default:
			if failed++; failed == tries {
				return fmt.Errorf("%s: %w (asked %d times; what is there is kept, ask again later)", t.URL, err, tries)
			}
			if !sleep(ctx, pause(err, failed)) {
				return ctx.Err()
			}
		}
	}
	return nil
}

// errNoRanges: to send a part in the middle of a file this server would have to send all before it.
var errNoRanges = errors.New("the server sends no parts of a file")

// inOneGo fetches the file from its start to its end, from a server that sends no parts. What
// breaks off begins anew, so that it is asked less often than for a part.
func (t *fetch) inOneGo(ctx context.Context) error {
	for failed := 0; ; {
		t.mu.Lock()
		t.have = 0
		t.mu.Unlock()
		_, err := t.read(ctx, 0, t.Size, func(int64) error { return nil }) // the next time it begins anew
		var final *finalError
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			return t.part.Sync()
		case errors.As(err, &final):
			return fmt.Errorf("%s: %w", t.URL, final.error)
		}
		if failed++; failed == tries {
			return fmt.Errorf("%s: %w (it sends no parts of a file, and broke off %d times: put the file where one does)", t.URL, err, tries)
		}
		if !sleep(ctx, pause(err, failed)) {
			return ctx.Err()
		}
	}
}

// finalError is one that asking again does not mend.
type finalError struct{ error }

// laterError says when a server can be asked again.
type laterError struct {
	error
	after time.Duration
}

// pause is how long to wait after failing so often in a row.
func pause(err error, failed int) time.Duration {
	const longest = 30 * time.Second
	var later *laterError
	if errors.As(err, &later) && later.after > 0 {
		return min(later.after, longest)
	}
	return min(100*time.Millisecond<<failed, longest)
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// read asks for the bytes [from, to) and writes what comes to its place. It answers
// how many came, and why not all did; note is told now and then up to where they are.
func (t *fetch) read(ctx context.Context, from, to int64, note func(upTo int64) error) (got int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(t.Stall, func() { cancel(fmt.Errorf("nothing came for %v", t.Stall)) })
	defer stalled.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.URL, nil)
	if err != nil {
		return 0, &finalError{err}
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, to-1))
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := t.client.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return 0, err
	}
	defer resp.Body.Close()
	body := io.Reader(resp.Body)
	switch resp.StatusCode {
	case http.StatusPartialContent:
	case http.StatusOK: // a server without ranges sends everything
		if from > 0 {
			return 0, &finalError{errNoRanges}
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusInternalServerError:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return 0, &laterError{errors.New(resp.Status), time.Duration(seconds) * time.Second}
	case http.StatusRequestedRangeNotSatisfiable:
		if err := t.offered(resp, from); err != nil {
			return 0, &finalError{err}
		}
		return 0, &finalError{errors.New(resp.Status)}
	default:
		return 0, &finalError{errors.New(resp.Status)}
	}
	if err := t.offered(resp, from); err != nil { // before a byte of it is kept
		return 0, &finalError{err}
	}
	buf := make([]byte, 64<<10)
	in := io.LimitReader(watched{body, stalled, t.Stall}, to-from)
	told, at := int64(0), time.Now() // what note was told last, and when
	defer func() {
		if got > told {
			if failed := note(from + got); failed != nil {
				err = &finalError{failed}
			}
		}
	}()
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if _, err := t.part.WriteAt(buf[:n], from+got); err != nil {
				return got, &finalError{err}
			}
			got += int64(n)
			t.add(int64(n))
			if now := time.Now(); now.Sub(at) >= t.Note {
				if err := note(from + got); err != nil {
					return got, &finalError{err}
				}
				told, at = got, now
			}
		}
		switch {
		case err == io.EOF && got < to-from:
			return got, io.ErrUnexpectedEOF
		case err == io.EOF:
			return got, nil
		case err != nil:
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return got, err
		}
	}
}

// offered fails if an answer to a request for the bytes from there on is not of a file of the right length, or begins
// elsewhere, as far as its header says.
func (t *fetch) offered(resp *http.Response, from int64) error {
	begin, length := from, int64(-1)
	if resp.StatusCode == http.StatusOK {
		if resp.ContentLength > 0 {
			length = resp.ContentLength
		}
	} else {
		unit, rest, _ := strings.Cut(resp.Header.Get("Content-Range"), " ")
		span, total, whole := strings.Cut(rest, "/")
		if n, err := strconv.ParseInt(total, 10, 64); whole && strings.EqualFold(unit, "bytes") && err == nil {
			length = n
		}
		first, _, _ := strings.Cut(span, "-")
		if n, err := strconv.ParseInt(first, 10, 64); err == nil {
			begin = n
		}
	}
	switch {
	case length >= 0 && length != t.Size:
		return fmt.Errorf("the server's file has %d bytes, and the catalogue says %d: correct url or download there", length, t.Size)
	case begin != from:
		return fmt.Errorf("the server sends its file from byte %d, and was asked for it from byte %d: put the file where parts are sent right", begin, from)
	}
	return nil
}

// watched puts the alarm off with every byte.
type watched struct {
	io.Reader
	alarm *time.Timer
	after time.Duration
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.alarm.Reset(w.after)
	}
	return n, err
}

// finish gives the file its name if it is the right one, and throws it away otherwise.
func (t *fetch) finish(ctx context.Context, path string) error {
	t.close() // Windows renames and removes no file that is open; what was written is on the disk
	sum, err := SumOf(ctx, path+".part", func(int64) {})
	if err != nil {
		return err
	}
	if sum != t.SHA256 {
		next := ""
		if len(t.begun) > 0 { // it may have come from another address
			next = "; some of it was kept from before and is gone now: try again, which begins anew"
		}
		return errors.Join(fmt.Errorf("%s: %w: %s, not %s%s", t.URL, ErrSum, sum, t.SHA256, next), Discard(path))
	}
	if err := rename(path+".part", path); err != nil {
		return err
	}
	return os.Remove(path + ".parts")
}

// rename is replaced in a test.
var rename = os.Rename

// Discard removes a fetched file, whole or not. One that is not there is no error.
func Discard(path string) error {
	var errs []error
	for _, name := range []string{path, path + ".part", path + ".parts"} {
		if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// SumOf is the sha256 of a file in hexadecimal digits; report is told how many of its bytes were read.
func SumOf(ctx context.Context, path string, report func(done int64)) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	buf := make([]byte, 1<<20)
	var done int64
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := f.Read(buf)
		sum.Write(buf[:n])
		done += int64(n)
		report(done)
		if err == io.EOF {
			return hex.EncodeToString(sum.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}
