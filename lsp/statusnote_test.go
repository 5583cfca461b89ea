package lsp_test

import (
	"encoding/json"
	"testing"

	"quarry/lsp"
)

// The words of a status note: what takes the model away goes before what is only busy.
func TestWordsOfAStatusNote(t *testing.T) {
	forty := 40
	ready := lsp.NoteModel{Name: "granite4.1:3b", State: lsp.ModelReady}
	indexing := lsp.Work{Kind: lsp.Indexing, Folder: "api", Done: 30, Total: 120}
	for _, c := range []struct {
		name         string
		note         lsp.StatusNote
		level        lsp.Level
		text, detail string
	}{
		{"ready", lsp.StatusNote{Model: ready}, lsp.LevelReady, "granite4.1:3b", "Ghost text is by granite4.1:3b."},
		{
			"works less well", lsp.StatusNote{Model: lsp.NoteModel{Name: "m", State: lsp.ModelReady, Reason: "m is a hybrid model"}},
			lsp.LevelReady, "m", "Ghost text is by m.\nM is a hybrid model.",
		},
		{
			"full", lsp.StatusNote{Model: lsp.NoteModel{Name: "m", State: lsp.ModelReady, Full: true, Reason: "gpu.example is busy: wait"}},
			lsp.LevelWarning, "m: server full", "Gpu.example is busy: wait.",
		},
		{
			"busy", lsp.StatusNote{Model: lsp.NoteModel{Name: "m", State: lsp.ModelReady, Full: true, Why: "busy for another program", Reason: "m is busy for another program: wait"}},
			lsp.LevelWarning, "m: busy for another program", "M is busy for another program: wait.",
		},
		{
			"remote", lsp.StatusNote{Model: lsp.NoteModel{Name: "m", State: lsp.ModelReady, Host: "gpu.example:11434"}, Sends: []lsp.Send{
				{Use: "completion", Model: "m", Host: "gpu.example:11434", Remote: true, Plain: true}, {Use: "search", Model: "e", Host: "gpu.example:11434", Remote: true},
				{Use: "reranker", Host: "127.0.0.1:8080"},
			}},
			lsp.LevelReady, "m on gpu.example:11434", "Ghost text is by m on gpu.example:11434.\n" +
				"Code leaves this machine: completion by m on gpu.example:11434, over plain http, which everybody on the way can read.\nCode leaves this machine: search by e on gpu.example:11434.",
		},
		{
			"only others are remote", lsp.StatusNote{Model: ready, Sends: []lsp.Send{
				{Use: "completion", Model: "m", Host: "127.0.0.1:11434"}, {Use: "completion of go", Model: "g", Host: "Ollama's cloud", Remote: true}, {Use: "reranker", Host: "rank.example:80", Remote: true},
			}},
			lsp.LevelReady, "granite4.1:3b (code to Ollama's cloud, code to rank.example:80)", "Ghost text is by granite4.1:3b.\n" +
				"Code leaves this machine: completion of go by g on Ollama's cloud.\nCode leaves this machine: reranker by the server's model on rank.example:80.",
		},
		{
			"remote, and away", lsp.StatusNote{Model: lsp.NoteModel{Name: "m", State: lsp.ModelNone, Reason: "no model server answers", Host: "gpu.example:11434"}, Sends: []lsp.Send{
				{Use: "completion", Model: "m", Host: "gpu.example:11434", Remote: true},
			}},
			lsp.LevelWarning, "no model (on gpu.example:11434)", "No model server answers.\nUntil then ghost text is copied from your own code.\nCode leaves this machine: completion by m on gpu.example:11434.",
		},
		{
			"loading", lsp.StatusNote{Model: lsp.NoteModel{Name: "m", State: lsp.ModelLoading, Reason: "Ollama is loading m"}},
			lsp.LevelBusy, "loading m", "Ollama is loading m.\nUntil then ghost text is copied from your own code.",
		},
		{
			"downloading", lsp.StatusNote{Model: lsp.NoteModel{Name: "m", State: lsp.ModelLoading, Reason: "fetching m", Percent: &forty}},
			lsp.LevelBusy, "m 40%", "Fetching m.\nUntil then ghost text is copied from your own code.",
		},
		{
			"downloading another", lsp.StatusNote{Model: lsp.NoteModel{Name: "m", Download: "n", State: lsp.ModelLoading, Reason: "fetching n", Percent: &forty}},
			lsp.LevelBusy, "n 40%", "Fetching n.\nUntil then ghost text is copied from your own code.",
		},
		{
			"downloading another beside a ready one", lsp.StatusNote{Model: lsp.NoteModel{Name: "m", Download: "n", State: lsp.ModelReady, Percent: &forty}},
			lsp.LevelReady, "m", "Ghost text is by m.\nFetching n: 40 %.",
		},
		{
			"none wanted", lsp.StatusNote{Model: lsp.NoteModel{Name: "m", State: lsp.ModelNone, Off: true, Reason: "ollama.enabled is false"}},
			lsp.LevelReady, "model-free", "Ghost text is copied from your own code, as the settings want it.",
		},
		{
			"none, and busy", lsp.StatusNote{Model: lsp.NoteModel{Name: "m", State: lsp.ModelNone, Reason: "Ollama does not answer: start it"}, Work: []lsp.Work{indexing}},
			lsp.LevelWarning, "no model", "Ollama does not answer: start it.\nUntil then ghost text is copied from your own code.\nIndexing api: 30 of 120 files.",
		},
		{"indexing", lsp.StatusNote{Model: ready, Work: []lsp.Work{indexing}}, lsp.LevelBusy, "indexing 25%", "Ghost text is by granite4.1:3b.\nIndexing api: 30 of 120 files."},
		{
			"learning", lsp.StatusNote{Model: ready, Work: []lsp.Work{{Kind: lsp.Learning, Folder: "api"}}},
			lsp.LevelBusy, "learning", "Ghost text is by granite4.1:3b.\nReading the index of api.",
		},
		{
			"a broken model of a language", lsp.StatusNote{Model: ready, Broken: []string{"Ollama has no model n: pull it. Until then granite4.1:3b completes go"}, Problems: []string{"the home folder is not indexed"}},
			lsp.LevelWarning, "models", "Ghost text is by granite4.1:3b.\nOllama has no model n: pull it. Until then granite4.1:3b completes go.\nThe home folder is not indexed.",
		},
		{
			"embedding", lsp.StatusNote{Model: ready, Work: []lsp.Work{{Kind: lsp.Embedding, Folder: "api", Done: 1, Total: 8}}},
			lsp.LevelReady, "granite4.1:3b", "Ghost text is by granite4.1:3b.\nEmbedding api for search by meaning: 1 of 8 chunks.",
		},
	} {
		e := edit(t, "helix", &core{note: c.note})
		var st lsp.Status
		if err := e.Call(t.Context(), lsp.MethodStatus, nil, &st); err != nil {
			t.Fatal(err)
		}
		if st.Now.Level != c.level || st.Now.Text != c.text || st.Now.Detail != c.detail {
			t.Errorf("%s: %s %q %q", c.name, st.Now.Level, st.Now.Text, st.Now.Detail)
		}
	}
}

// A client that shows notes is told of each change and of nothing else; work that is
// over at once is no change.
func TestStatusNoteIsSentOnChange(t *testing.T) {
	c := &core{note: lsp.StatusNote{Model: lsp.NoteModel{Name: "m", State: lsp.ModelLoading}}}
	set := func(change func(n *lsp.StatusNote)) (looks int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		change(&c.note)
		return c.looks
	}
	e := edit(t, "neovim", c)
	ctx := soon(t)
	last := func() (n lsp.StatusNote) {
		if all := e.Statuses(); len(all) > 0 {
			if err := json.Unmarshal(all[len(all)-1], &n); err != nil {
				t.Error(err)
			}
		}
		return n
	}
	await := func(what string, cond func(lsp.StatusNote) bool) {
		t.Helper()
		if err := e.Await(ctx, func() bool { return cond(last()) }); err != nil {
			t.Fatalf("%s: %v; last %+v", what, err, last())
		}
	}
	await("at the start", func(n lsp.StatusNote) bool { return n.Text == "loading m" })

	looks := set(func(*lsp.StatusNote) {})
	for i := 0; i < 3; i++ { // nothing has changed
		c.statusChanged()
	}
	ready := func(n *lsp.StatusNote) { n.Model.State = lsp.ModelReady }
	set(ready)
	c.statusChanged()
	await("ready", func(n lsp.StatusNote) bool { return n.Text == "m" })
	if n := len(e.Statuses()); n != 2 {
		t.Errorf("%d notes for two states, %d looks", n, looks)
	}

	// Work is seen to the end without anybody saying so.
	set(func(n *lsp.StatusNote) { n.Work = []lsp.Work{{Kind: lsp.Indexing, Folder: "f", Done: 1, Total: 4}} })
	c.statusChanged()
	await("working", func(n lsp.StatusNote) bool { return n.Text == "indexing 25%" && n.Level == lsp.LevelBusy })
	set(func(n *lsp.StatusNote) { n.Work = []lsp.Work{} })
	await("done", func(n lsp.StatusNote) bool { return n.Text == "m" && len(n.Work) == 0 })
}

// Other clients would complain of a notification that they do not know.
func TestStatusNoteIsNotSentUnasked(t *testing.T) {
	c := &core{}
	e := edit(t, "helix", c)
	c.statusChanged()
	if err := e.Call(soon(t), lsp.MethodStatus, nil, nil); err != nil {
		t.Fatal(err)
	}
	if n := len(e.Statuses()); n != 0 {
		t.Errorf("%d notes", n)
	}
}
