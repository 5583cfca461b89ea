package model

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ollama/ollama/api"
	names "github.com/ollama/ollama/types/model"

	"quarry/model/chatform"
)

// A Library is the models that an Ollama has. It is safe for concurrent use.
type Library struct{ *ollama }

// NewLibrary is the library of the Ollama that opt names; opt.Model does not matter.
func NewLibrary(opt Options) (*Library, error) {
	if opt.API == OpenAIAPI {
		return nil, errNotOllama
	}
	endpoint, err := ParseEndpoint(opt.URL, opt.AllowRemote)
	if err != nil {
		return nil, err
	}
	return &Library{newOllama(opt, endpoint, newHTTPClient(endpoint))}, nil
}

var errNotOllama = errors.New("install the model on your model server, then run `quarry model use NAME`: quarry downloads models through Ollama only")

// Installed is a model that Ollama has.
type Installed struct {
	Name string `json:"name"`
	// Digest is the sha256 of the model's manifest, in hexadecimal digits.
	Digest string    `json:"digest"`
	Bytes  int64     `json:"bytes"`
	Family string    `json:"family,omitempty"`
	Quant  string    `json:"quantisation,omitempty"`
	Since  time.Time `json:"modified"`
	// Running is how the model is in memory, nil if it is not.
	Running *Running `json:"running,omitempty"`
}

// Embeds is whether the model embeds and cannot complete, by its name or its family.
func (m Installed) Embeds() bool {
	return strings.Contains(m.Name, "embed") || strings.Contains(m.Family, "bert")
}

// Running is a model in memory.
type Running struct {
	Bytes int64 `json:"bytes"`
	OnGPU int64 `json:"bytes_on_gpu"`
	// Until is when it leaves memory if nobody asks it again.
	Until time.Time `json:"until"`
}

// List is what Ollama has, without models that run on other machines.
func (l *Library) List(ctx context.Context) ([]Installed, error) {
	var have, running []listed
	err := l.within(ctx, func(ctx context.Context) (err error) {
		if have, err = l.have(ctx); err == nil {
			running, err = l.inMemory(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var list []Installed
	for _, m := range have {
		if m.RemoteHost != "" || InCloud(m.Name) {
			continue
		}
		i := Installed{
			Name: m.Name, Digest: m.Digest, Bytes: m.Size, Family: m.Details.Family, Since: m.Modified.Time,
		}
		if q := m.Details.Quant; q != "unknown" {
			i.Quant = q
		}
		if at := slices.IndexFunc(running, func(p listed) bool { return p.Digest == m.Digest }); at >= 0 {
			p := running[at]
			i.Running = &Running{p.Size, p.OnGPU, p.Expires.Time}
		}
		list = append(list, i)
	}
	return list, nil
}

// Find is the installed model of this name; ok is false if there is none.
func (l *Library) Find(ctx context.Context, name string) (m Installed, ok bool, err error) {
	list, err := l.List(ctx)
	if err != nil {
		return m, false, err
	}
	at := slices.IndexFunc(list, func(m Installed) bool { return SameModel(m.Name, name) })
	if at < 0 {
		return m, false, nil
	}
	return list[at], true, nil
}

// mostFiles is how many files a model may have that Ollama downloads. Most have a handful; the
// largest have some hundred.
const mostFiles = 10_000

// Progress is called with the digest of the file at work ("" if it is not known), and how many
// bytes of all files are done, of how many.
type Progress func(file string, done, total int64)

// Pull has Ollama download a model and check the sha256 of each of its files. report gets the
// digest of the file that is coming, and how many bytes there are, of how many in all. If ctx
// ends, what has come stays, and the next Pull continues from there. Ollama gives the new
// version the name as soon as it is complete. If try then fails, the version that was
// installed before gets its name back.
func (l *Library) Pull(ctx context.Context, name string, report Progress, try func(name string) error) error {
	if InCloud(name) {
		return fmt.Errorf("%s runs on another machine; choose a local model such as %s", name, otherThan(name))
	}
	c, kept := l.of(name), trialName(name, keptMark)
	installed, had, err := l.Find(ctx, name)
	if err != nil {
		return err
	}
	// If a kept model exists already, an earlier Pull was killed before it had tried what it
	// downloaded. It stays until a new version has passed.
	_, before, err := l.Find(ctx, kept)
	if err != nil {
		return err
	}
	if had && !before {
		if err := l.Copy(ctx, installed.Name, kept); err != nil {
			return fmt.Errorf("keep %s: %w", name, err)
		}
	}
	err = c.download(ctx, name, report)
	tried := err == nil
	if tried {
		if err = try(name); err != nil && (had || before) {
			err = errors.Join(err, l.giveBack(context.WithoutCancel(ctx), name, kept))
		}
	}
	if before && tried || had && !before {
		err = errors.Join(err, l.drop(context.WithoutCancel(ctx), kept))
	}
	return err
}

// drop is Remove for a model that was replaced or that failed. It first unloads the model,
// which quarry's trial, or a client that used its former name, may have loaded.
func (l *Library) drop(ctx context.Context, name string) error {
	var running, have []listed
	err := l.within(ctx, func(ctx context.Context) (err error) {
		running, have, err = l.running(ctx)
		return err
	})
	if err == nil && slices.ContainsFunc(running, func(r listed) bool {
		alone := !slices.ContainsFunc(have, func(m listed) bool { return m.Digest == r.Digest && !SameModel(m.Name, name) })
		return holds(r, name, have) && (alone || SameModel(r.Name, name))
	}) {
		_ = l.of(name).unload(ctx) // if this fails, Ollama unloads it later
	}
	return l.Remove(ctx, name)
}

// giveBack makes a name mean the kept model again. The model that has the name is removed with
// its files, because Ollama leaves the files of a model that is copied over.
func (l *Library) giveBack(ctx context.Context, name, kept string) error {
	failed := trialName(name, failedMark)
	err := l.Copy(ctx, name, failed)
	if err == nil {
		err = l.Copy(ctx, kept, name)
	}
	if err == nil {
		err = l.drop(ctx, failed)
	}
	return err
}

// download is Pull without a trial.
func (c *ollama) download(ctx context.Context, name string, report Progress) error {
	// A model has several files, each with its own progress.
	done, total := map[string]int64{}, map[string]int64{}
	var doneAll, totalAll int64
	finished := false
	ask := func() error {
		return c.api.Pull(ctx, &api.PullRequest{Model: name}, func(p api.ProgressResponse) error {
			finished = finished || p.Status == "success"
			if p.Digest == "" {
				return nil
			}
			doneAll += p.Completed - done[p.Digest]
			totalAll += p.Total - total[p.Digest]
			done[p.Digest], total[p.Digest] = p.Completed, p.Total
			if len(total) > mostFiles {
				return &problem{
					kind: ErrServer, what: fmt.Sprintf("%s is no Ollama", c.endpoint.Host),
					fix: "check the address, it has more files for " + name + " than a model has",
				}
			}
			report(p.Digest, doneAll, totalAll)
			return nil
		})
	}
	err := ask()
	for again := 0; again < mostJoined && ctx.Err() == nil && joinedEnded(err); again++ {
		select {
		case <-ctx.Done():
		case <-time.After(untilEnded):
			err = ask()
		}
	}
	if err != nil {
		return fmt.Errorf("download %s: %w", name, c.explainPull(err, name))
	}
	if !finished {
		return fmt.Errorf("download %s: %w", name, c.brokeOff(nil))
	}
	return nil
}

// Ollama lets a pull join a running download of the same file. If the user has just ended that
// download and it is not gone yet, the new pull fails with the old one's end. That passes in
// milliseconds.
const (
	untilEnded = 100 * time.Millisecond
	mostJoined = 10
)

// joinedEnded is whether a pull failed because another one ended, as the error line in its
// answer says.
func joinedEnded(err error) bool {
	return err != nil && err.Error() == context.Canceled.Error()
}

// explainPull is explain for what keeps Ollama itself from downloading, as Ollama says it.
func (c *ollama) explainPull(err error, name string) error {
	var ours *problem
	var asking *url.Error
	if errors.As(err, &ours) || errors.As(err, &asking) { // Ollama did not answer at all
		return c.explain(err)
	}
	text := clean(err.Error())
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	p := &problem{kind: ErrServer, cause: err}
	switch {
	case says("file does not exist", "pull model manifest: 404"):
		p.what, p.fix = "Ollama's library has no such model", "look for its name on https://ollama.com/library"
	case says(noSpace...):
		return c.explainFull(err)
	case says("dial tcp", "no such host", "i/o timeout", "TLS handshake", "x509:"):
		p.what, p.fix = "Ollama cannot reach the model's library", "check the network, or HTTPS_PROXY of `ollama serve`, and pull "+name+" again ("+text+")"
	default:
		return c.explain(err)
	}
	return p
}

// noSpace is how systems say that a disk is full.
var noSpace = []string{"no space left", "not enough space on the disk", "disk quota exceeded"}

// DiskFull is whether an error says that a disk is full.
func DiskFull(err error) bool {
	return err != nil && slices.ContainsFunc(noSpace, func(w string) bool { return strings.Contains(err.Error(), w) })
}

// explainFull is explain for what Ollama cannot write.
func (c *ollama) explainFull(err error) error {
	if DiskFull(err) {
		return &problem{kind: ErrServer, what: "Ollama's disk is full", fix: "make room, or set OLLAMA_MODELS for Ollama to another disk", cause: err}
	}
	return c.explain(err)
}

// Weights is the sha256 of an installed model's weights file, in hexadecimal digits, and the
// file's path if Ollama runs on this machine. Each is "" if Ollama does not name the file that
// the model was made from.
func (l *Library) Weights(ctx context.Context, name string) (path, sum string, err error) {
	folder, sum, err := l.madeFrom(ctx, name)
	if err == nil && sum != "" && IsLoopback(l.endpoint) {
		path = folder + blobPrefix + sum
	}
	return path, sum, err
}

// madeFrom is the folder, on Ollama's machine, of the file that an installed model was made
// from, and the file's sha256. Both are "" if Ollama does not say.
func (l *Library) madeFrom(ctx context.Context, name string) (folder, sum string, err error) {
	c := l.of(name)
	var show *api.ShowResponse
	if err := c.within(ctx, func(ctx context.Context) (err error) {
		show, err = c.api.Show(ctx, &api.ShowRequest{Model: name})
		return err
	}); err != nil {
		return "", "", err
	}
	for line := range strings.Lines(show.Modelfile) {
		file, ok := strings.CutPrefix(strings.TrimSpace(line), "FROM ")
		if !ok {
			continue
		}
		const digits = 64
		if at := strings.LastIndex(file, "sha256-"); at >= 0 {
			if sum := file[at+len("sha256-"):]; len(sum) == digits {
				return file[:at], sum, nil
			}
		}
	}
	return "", "", nil
}

// Folder is where an Ollama on this machine keeps its models. It is "" if Ollama runs
// elsewhere, or has no model by which it would say so.
func (l *Library) Folder(ctx context.Context) string {
	if !IsLoopback(l.endpoint) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	list, err := l.List(ctx)
	if err != nil {
		return ""
	}
	const asked = 3 // enough that one of them has a file
	for _, m := range list[:min(len(list), asked)] {
		folder, _, err := l.madeFrom(ctx, m.Name)
		if err != nil || folder == "" {
			continue
		}
		if info, err := os.Stat(folder); err == nil && info.IsDir() { // otherwise Ollama runs in a container
			return filepath.Clean(folder)
		}
	}
	return ""
}

// Inspect asks Ollama about a model without loading it. Options.OnElsewhere is called if
// another machine runs the model.
func (l *Library) Inspect(ctx context.Context, name string) error {
	_, err := l.of(name).inspect(ctx)
	return err
}

// Completes is whether an installed model is known to fill in the middle, without loading it,
// and is not one that Ollama serves badly. Ollama says so, or the model's name does, as byName
// finds.
func (l *Library) Completes(ctx context.Context, name string, byName bool) bool {
	about, err := l.of(name).inspect(ctx)
	return err == nil && !about.embeds && !about.hybrid && (about.inserts || byName)
}

// Remove deletes an installed model and gives its disk space back.
func (l *Library) Remove(ctx context.Context, name string) error {
	c := l.of(name)
	return c.within(ctx, func(ctx context.Context) error { return c.api.Delete(ctx, &api.DeleteRequest{Model: name}) })
}

// ggufMagic begins every GGUF file.
const ggufMagic = "GGUF"

// Import gives Ollama the model of a GGUF file under a name. report gets how many bytes it has
// read, of how many, and the file's digest before Ollama has any of it. Import answers the
// file's sha256, also with an error once it is known. form names how to talk to the model
// (package chatform); "" means as the file says. While try looks at the model it has another
// name, so that the model which has the name keeps it until try has answered nil, even if this
// process is killed.
func (l *Library) Import(ctx context.Context, path, name, form string, report Progress, try func(name string) error) (digest string, err error) {
	if InCloud(name) {
		return "", fmt.Errorf("choose a name without \"cloud\": %s means another machine to Ollama", name)
	}
	trial := trialName(name, trialMark)
	if digest, err = l.create(ctx, path, trial, form, report); err != nil {
		return digest, err
	}
	if err = errors.Join(try(trial), ctx.Err()); err == nil {
		err = l.replace(context.WithoutCancel(ctx), name, trial, digest)
	}
	if errors.Is(err, errOvertaken) { // another process owns the trial
		return digest, err
	}
	return digest, errors.Join(err, l.drop(context.WithoutCancel(ctx), trial))
}

// errOvertaken: another process has given the name of a trial to another file.
var errOvertaken = errors.New("another quarry imported another file under this name meanwhile: see `quarry model list`, and import again")

// isOf fails with errOvertaken if a model is known to come from another file than the one with
// this digest.
func (l *Library) isOf(ctx context.Context, name, digest string) error {
	_, sum, err := l.Weights(ctx, name)
	if err == nil && sum != "" && "sha256:"+sum != digest {
		err = fmt.Errorf("%s: %w", name, errOvertaken)
	}
	return err
}

// replace gives a name to a model that has passed its trial, made from the file with this
// digest. The model that had the name is removed with its files, because Ollama leaves the
// files of a model that is copied over.
func (l *Library) replace(ctx context.Context, name, tried, digest string) error {
	kept := trialName(name, keptMark)
	if err := l.isOf(ctx, tried, digest); err != nil {
		return err
	}
	_, had, err := l.Find(ctx, name)
	if err != nil {
		return err
	}
	_, before, err := l.Find(ctx, kept)
	if err == nil && before { // it is left of a Pull that was killed: the model that has the name now goes instead
		err = l.drop(ctx, kept)
	}
	if err == nil && had {
		err = l.Copy(ctx, name, kept)
	}
	if err == nil {
		err = l.Copy(ctx, tried, name)
	}
	if err != nil {
		return err
	}
	switch err = l.isOf(ctx, name, digest); {
	case err != nil && had:
		return errors.Join(err, l.giveBack(ctx, name, kept), l.Remove(ctx, kept))
	case err != nil:
		return errors.Join(err, l.drop(ctx, name))
	case had:
		return l.drop(ctx, kept)
	}
	return nil
}

// These marks follow the name of a model that is on trial, of one that failed its trial, and
// of one that is kept until its successor has passed. Nobody names a model of their own like
// that.
const (
	trialMark  = "quarry-trial"
	failedMark = "quarry-failed"
	keptMark   = "quarry-before"
)

// longestTag is how many bytes Ollama lets a model's tag have.
const longestTag = 80

// trialName is a name for a model that exists beside its own. It is the same however the name
// is written, except for upper and lower case.
func trialName(name, mark string) string {
	if n := names.ParseName(name); n.IsValid() {
		name = n.DisplayShortest()
		if strings.EqualFold(n.Tag, "latest") {
			name = strings.TrimSuffix(name, ":"+n.Tag)
		}
	}
	if at := strings.LastIndexByte(name, ':'); at > strings.LastIndexByte(name, '/') {
		most := at + 1 + longestTag - len("-"+mark)
		return name[:min(len(name), most)] + "-" + mark
	}
	return name + ":" + mark
}

// An Unfinished is a model that remains of a Pull or an Import that was killed.
type Unfinished struct {
	// Name is its own name, Of the name under which it was fetched.
	Name, Of string
	Bytes    int64
	// Kept says that it had the name before. Otherwise it was to be tried.
	Kept bool
	// Untried, of a kept model: another model has the name now, and nothing has tried that one.
	// Otherwise the name still means this model, or nothing.
	Untried bool
}

// FindUnfinished finds them among the models that Ollama has. A Pull or an Import that runs
// has some, too.
func FindUnfinished(list []Installed) (left []Unfinished) {
	replaced := func(kept Installed, name string) bool {
		at := slices.IndexFunc(list, func(m Installed) bool { return SameModel(m.Name, name) })
		if at < 0 || list[at].Digest == kept.Digest {
			return false
		}
		trial := trialName(name, trialMark) // an Import gives the name to what was tried alone
		return !slices.ContainsFunc(list, func(m Installed) bool { return SameModel(m.Name, trial) && m.Digest == list[at].Digest })
	}
	for _, m := range list {
		for _, mark := range []string{keptMark, trialMark, failedMark} {
			of, ok := strings.CutSuffix(m.Name, ":"+mark)
			if !ok {
				of, ok = strings.CutSuffix(m.Name, "-"+mark)
			}
			if ok && trialName(of, mark) == m.Name {
				left = append(left, Unfinished{m.Name, of, m.Bytes, mark == keptMark, mark == keptMark && replaced(m, of)})
			}
		}
	}
	return left
}

// IsKept is whether the Unfinished of this name is Kept.
func IsKept(name string) bool { return strings.HasSuffix(name, keptMark) }

// IsTrial is whether the Unfinished of this name is one that an Import was trying.
func IsTrial(name string) bool { return strings.HasSuffix(name, trialMark) }

// Copy gives an installed model a second name.
func (l *Library) Copy(ctx context.Context, from, to string) error {
	c := l.of(from)
	return c.within(ctx, func(ctx context.Context) error {
		return c.api.Copy(ctx, &api.CopyRequest{Source: from, Destination: to})
	})
}

// SameModel is whether Ollama takes two names for the same model. It leaves out the default
// library, namespace and tag, and ignores case.
func SameModel(a, b string) bool { return names.ParseName(a).EqualFold(names.ParseName(b)) }

// create is Import without a trial.
func (l *Library) create(ctx context.Context, path, name, form string, report Progress) (digest string, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // do not wait for a pipe
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file; give the path of a GGUF file", path)
	}
	magic := make([]byte, len(ggufMagic))
	if _, err := io.ReadFull(f, magic); err != nil || string(magic) != ggufMagic {
		return "", fmt.Errorf("%s is no GGUF file", path)
	}
	speak, err := formOf(f, form)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	if _, err := f.Seek(int64(len(magic)), io.SeekStart); err != nil {
		return "", err
	}
	total := 2 * info.Size() // it is read once for its sum and once for Ollama
	read := &countingReader{ctx: ctx, Reader: f, each: func(n int64) { report(digest, n, total) }}
	sum := sha256.New()
	sum.Write(magic)
	read.n = int64(len(magic))
	if _, err := io.Copy(sum, read); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	digest = fmt.Sprintf("sha256:%x", sum.Sum(nil))
	report(digest, read.n, total)
	c := l.of(name)
	if err := c.api.CreateBlob(ctx, digest, read); err != nil {
		return digest, fmt.Errorf("give Ollama %s: %w", path, c.explainFull(err))
	}
	finished := false
	req := &api.CreateRequest{Model: name, Files: map[string]string{filepath.Base(path): digest}, Template: speak.Template}
	if len(speak.Stops) > 0 {
		req.Parameters = map[string]any{"stop": speak.Stops}
	}
	err = c.api.Create(ctx, req, func(p api.ProgressResponse) error {
		finished = finished || p.Status == "success"
		return nil
	})
	if err != nil {
		return digest, fmt.Errorf("make %s: %w", name, c.explainFull(err))
	}
	if !finished {
		return digest, fmt.Errorf("make %s: %w", name, c.brokeOff(nil))
	}
	return digest, nil
}

// formOf is how to talk to the model of a GGUF file: as a catalogue names it, else as the file
// says. The zero Form leaves it to Ollama, which knows some templates by their text.
func formOf(file io.ReadSeeker, name string) (chatform.Form, error) {
	if form, ok := chatform.Named(name); ok || name != "" {
		return form, nil // a catalogue names known forms only
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return chatform.Form{}, err
	}
	about, err := chatform.ReadHeader(file)
	if err != nil {
		return chatform.Form{}, err
	}
	return chatform.Of(about), nil
}

// countingReader reports how much was read, and stops when ctx ends.
type countingReader struct {
	io.Reader
	ctx  context.Context
	n    int64
	each func(n int64)
}

func (r *countingReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.Reader.Read(p)
	r.n += int64(n)
	r.each(r.n)
	return n, err
}
