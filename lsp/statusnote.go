package lsp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/protocol"
)

// StatusNote is what an editor shows of quarry while nobody asks: the params of
// the notification MethodStatus, and part of that request's result. Text fits a
// status line, Detail is for whoever looks closer.
type StatusNote struct {
	Level     Level     `json:"level" jsonschema:"ready, busy or warning"`
	Text      string    `json:"text" jsonschema:"a few words for a status line"`
	Detail    string    `json:"detail" jsonschema:"whole sentences, one a line"`
	Model     NoteModel `json:"model"`
	Sends     []Send    `json:"sends" jsonschema:"all ways by which text comes to models, under the settings of now"`
	ModelFree bool      `json:"modelFree" jsonschema:"ghost text is copied from the user's code, because no model can be asked now"`
	Work      []Work    `json:"work" jsonschema:"what goes on in the folders"`
	Savings   []Saving  `json:"savings" jsonschema:"what quarry does without now, so that memory and battery last"`
	Problems  []string  `json:"problems" jsonschema:"what is wrong with the user's settings file, the model of a language or the index of a folder, and what to do about it"`
	// Broken are the problems with models of single languages. A Core has them here and its others in Problems, where the
	// server puts all.
	Broken   []string `json:"-"`
	unread   int      // so many of the problems, the first, are with the settings
	Remedies []Remedy `json:"remedies" jsonschema:"what the user can do about it, best first"`
}

// Send is a way by which text of the user's comes to a model.
type Send struct {
	Use    string `json:"use" jsonschema:"completion, completion of LANGUAGE, search or reranker"`
	Model  string `json:"model"`
	Host   string `json:"host" jsonschema:"the machine that runs it, in words where it is Ollama's cloud"`
	Remote bool   `json:"remote" jsonschema:"that is another machine: the text leaves this one"`
	Plain  bool   `json:"plain" jsonschema:"over plain http to another machine: everybody on the way can read it"`
}

// Saving is one thing that quarry does without.
type Saving struct {
	Kind string `json:"kind" jsonschema:"memory or battery"`
	What string `json:"what"`
	Why  string `json:"why"`
	Undo string `json:"undo" jsonschema:"what would undo it"`
}

// Level says how a StatusNote wants to be looked at.
type Level string

// The levels.
const (
	LevelReady   Level = "ready"
	LevelBusy    Level = "busy"
	LevelWarning Level = "warning"
)

// NoteModel is the model in a StatusNote.
type NoteModel struct {
	Name  string     `json:"name"`
	State ModelState `json:"state" jsonschema:"ready, loading or none"`
	// Percent is how far a download is; Ollama does not say how far a load is.
	Percent *int `json:"percent,omitempty" jsonschema:"of a download; absent where it is not known"`
	// Download is the model that is downloaded, which may be another.
	Download string `json:"download,omitempty" jsonschema:"the model that percent is of; absent where none is downloaded"`
	// Reason says what is wrong and what to do. With ModelReady: what works less
	// well than it could.
	Reason string `json:"reason,omitempty" jsonschema:"what is wrong and what to do about it"`
	// Full: it is ready, and requests get no answer for now; Why says it in a few words.
	Full bool   `json:"full,omitempty" jsonschema:"its server is full, answers another program or fails: it answers no request for now, and ghost text is copied from the user's code until it does"`
	Why  string `json:"why,omitempty" jsonschema:"with full: server full, busy for another program, or no answers"`
	// Off: the user's settings want no model, so that nothing is wrong.
	Off  bool   `json:"off,omitempty" jsonschema:"the user's settings want no model"`
	Host string `json:"host,omitempty" jsonschema:"the other machine that runs it and reads the code in prompts; absent where it is this one"`
}

// ModelState is whether a model can be asked.
type ModelState string

// The states.
const (
	ModelReady   ModelState = "ready"
	ModelLoading ModelState = "loading"
	ModelNone    ModelState = "none"
)

// Work is something that goes on in a folder of the workspace.
type Work struct {
	Kind   string `json:"kind" jsonschema:"indexing, learning or embedding"`
	Folder string `json:"folder"`
	Done   int    `json:"done" jsonschema:"files, of embedding chunks"`
	Total  int    `json:"total" jsonschema:"0 where it is not known"`
}

// The kinds of Work. Learning: search and completion read what is indexed.
const (
	Indexing  = "indexing"
	Learning  = "learning"
	Embedding = "embedding"
)

// Remedy is a command of executeCommand that helps.
type Remedy struct {
	Title     string   `json:"title"`
	Command   string   `json:"command"`
	Arguments []string `json:"arguments"`
}

// untilThen is what ghost text is while no model can be asked.
const untilThen = "Until then ghost text is copied from your own code."

// word says a note in words. What keeps ghost text from being the model's goes
// before what only makes it better.
func (n *StatusNote) word() {
	name := n.Model.Name
	if n.Model.Host != "" {
		name += " on " + n.Model.Host
	}
	n.Level, n.Text = LevelReady, name
	var lines []string
	switch {
	case n.Model.Off:
		n.Text = "model-free"
		lines = append(lines, "Ghost text is copied from your own code, as the settings want it.")
	case n.Model.State == ModelNone:
		n.Level, n.Text = LevelWarning, "no model"
		lines = append(lines, sentence(n.Model.Reason), untilThen)
	case n.Model.State == ModelLoading:
		n.Level, n.Text = LevelBusy, "loading "+name
		if n.Model.Percent != nil {
			n.Text = fmt.Sprintf("%s %d%%", cmp.Or(n.Model.Download, name), *n.Model.Percent)
		}
		lines = append(lines, sentence(n.Model.Reason), untilThen)
	case n.Model.Full:
		n.Level, n.Text = LevelWarning, name+": "+cmp.Or(n.Model.Why, "server full")
		lines = append(lines, sentence(n.Model.Reason))
	default:
		lines = append(lines, "Ghost text is by "+name+".")
		if n.Model.Reason != "" {
			lines = append(lines, sentence(n.Model.Reason))
		}
	}
	if n.Model.State == ModelReady && n.Model.Percent != nil {
		lines = append(lines, fmt.Sprintf("Fetching %s: %d %%.", cmp.Or(n.Model.Download, name), *n.Model.Percent))
	}
	lines = append(lines, n.leaving()...)
	for i, v := range n.Savings {
		if i == 0 || v.Why != n.Savings[i-1].Why {
			lines = append(lines, sentence(v.Why), "What would undo it: "+v.Undo+". Until then:")
		}
		lines = append(lines, "- "+v.What)
	}
	for i, problem := range n.Problems {
		lines = append(lines, sentence(problem))
		if n.Level == LevelReady {
			n.Level, n.Text = LevelWarning, "index"
			switch {
			case i < n.unread:
				n.Text = "settings"
			case i < n.unread+len(n.Broken):
				n.Text = "models"
			}
		}
	}
	for _, w := range n.Work {
		text, detail := w.words()
		lines = append(lines, detail)
		if n.Level == LevelReady && w.Kind != Embedding { // searches do without for as long as it takes
			n.Level, n.Text = LevelBusy, text
		}
	}
	var hosts []string // at a glance, whatever else there is to say
	for _, send := range n.Sends {
		host := "code to " + send.Host
		if send.Host == n.Model.Host {
			host = "on " + send.Host
		}
		if send.Remote && !strings.Contains(n.Text, host) && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if len(hosts) > 0 {
		n.Text += " (" + strings.Join(hosts, ", ") + ")"
	}
	n.Detail = strings.Join(lines, "\n")
}

// leaving says which text leaves this machine, and for where.
func (n *StatusNote) leaving() (lines []string) {
	for _, send := range n.Sends {
		line := fmt.Sprintf("Code leaves this machine: %s by %s on %s", send.Use, cmp.Or(send.Model, "the server's model"), send.Host)
		if send.Plain {
			line += ", over plain http, which everybody on the way can read"
		}
		if send.Remote {
			lines = append(lines, line+".")
		}
	}
	return lines
}

// words are a few for a status line, and a sentence.
func (w Work) words() (text, detail string) {
	what := map[string]string{
		Indexing: "Indexing " + w.Folder, Learning: "Reading the index of " + w.Folder, Embedding: "Embedding " + w.Folder + " for search by meaning",
	}[w.Kind]
	if w.Total == 0 {
		return w.Kind, what + "."
	}
	unit := "files"
	if w.Kind == Embedding {
		unit = "chunks"
	}
	return fmt.Sprintf("%s %d%%", w.Kind, 100*w.Done/w.Total), fmt.Sprintf("%s: %d of %d %s.", what, w.Done, w.Total, unit)
}

// sentence ends a message with a full stop, as a line of its own.
func sentence(message string) string {
	message = strings.TrimRight(strings.TrimSpace(message), ".")
	if message == "" {
		return ""
	}
	return strings.ToUpper(message[:1]) + message[1:] + "."
}

// statusNote is the note of this moment.
func (s *Server) statusNote(ctx context.Context) StatusNote {
	note := s.lookAround(ctx)
	note.word()
	return note
}

// lookAround is a note without words: the core's, and what the server knows besides.
func (s *Server) lookAround(ctx context.Context) StatusNote {
	note := s.currentCore().StatusNote(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	note.Problems, note.unread = slices.Concat([]string{}, s.unread, note.Broken, note.Problems), len(s.unread)
	return note
}

// tellStatus is CommandStatus.
func (s *Server) tellStatus([]protocol.LSPAny) error {
	s.task("tell the status", func(ctx context.Context) error {
		note := s.statusNote(ctx)
		choices := []string{"Close"} // first, where a client has the first one chosen
		for _, r := range note.Remedies {
			choices = append(choices, r.Title)
		}
		chosen, err := s.assist.Screen().Choose(ctx, note.Detail, choices...)
		if err != nil && ctx.Err() == nil {
			s.assist.Screen().Say(protocol.MessageTypeInfo, note.Detail)
		}
		at := slices.IndexFunc(note.Remedies, func(r Remedy) bool { return r.Title == chosen })
		if at < 0 {
			return nil
		}
		var args []protocol.LSPAny
		for _, arg := range note.Remedies[at].Arguments {
			raw, err := json.Marshal(arg)
			if err != nil {
				return err
			}
			args = append(args, raw)
		}
		return s.commands[note.Remedies[at].Command](args)
	})
	return nil
}

// statusChanged is Start.Changed.
func (s *Server) statusChanged() {
	select {
	case s.noteDue <- struct{}{}:
	default: // the task looks soon
	}
}

// lookEvery is how often a note is made while there is work.
const lookEvery = 250 * time.Millisecond

// notifyStatus sends the client each change of the note. Work is looked at until it
// is done, since nobody says when that is.
func (s *Server) notifyStatus(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var news sentNotes
	for {
		note := s.lookAround(ctx)
		var again <-chan time.Time
		if len(note.Work) > 0 {
			again = tick.C
		}
		raw, err := news.of(note)
		if err == nil && raw != nil && ctx.Err() == nil {
			err = s.conn.Notify(ctx, MethodStatus, protocol.LSPAny(raw))
		}
		if err != nil {
			return fmt.Errorf("report the status: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.noteDue:
		case <-again:
		}
	}
}

// sentNotes knows what was sent to a client.
type sentNotes struct {
	last []byte
	// busy is how many looks in a row found work.
	busy int
}

// of is what to send to the client after a look, nil if nothing has changed for it.
// Work that is gone at the second look, as after most edits, is not worth a word.
func (t *sentNotes) of(note StatusNote) ([]byte, error) {
	if t.busy++; len(note.Work) == 0 {
		t.busy = 0
	}
	if t.busy == 1 {
		note.Work = []Work{}
	}
	note.word()
	raw, err := json.Marshal(note)
	if err != nil || bytes.Equal(raw, t.last) {
		return nil, err
	}
	t.last = raw
	return raw, nil
}
