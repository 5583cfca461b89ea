package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/agent"
)

// A model that does nothing but try: any tool, any path, any diff, with tokens
// that it guessed, was given for something else, or has used before. The user
// confirms some of what it proposes, and then it even gets the token.
func TestHostileModel(t *testing.T) {
	l := newLair(t)
	r := rand.New(rand.NewPCG(7, 7))
	start := time.Now()
	clock := start
	l.now = func() time.Time { return clock }
	before := l.disk()
	var tokens, ids []string
	confirmed := map[agent.Digest]int{}
	counts := map[string]int{}
	type confirmedCall struct {
		name, token string
		args        map[string]any
	}
	var waiting []confirmedCall
	for range *attempts {
		name, args := l.call(r, tokens)
		if len(waiting) > 0 && r.IntN(3) == 0 { // what was confirmed, perhaps late or again
			c := waiting[r.IntN(len(waiting))]
			name, args = c.name, c.args
			args["confirmation_token"] = c.token
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		e := l.box.Call(t.Context(), name, raw)
		text := e.String()
		if strings.Contains(text, canary) {
			t.Fatalf("read what must not be read: %s %s\n%s", name, raw, text)
		}
		if len(text) > agent.MaxResultBytes || !json.Valid([]byte(text)) {
			t.Fatalf("%s %s: %d bytes", name, raw, len(text))
		}
		outcome := "ok"
		if e.Error != nil {
			outcome = string(e.Error.Code)
		}
		if outcome == string(agent.InternalError) {
			t.Errorf("%s %.300s: %.300s", name, raw, e)
		}
		counts[outcome]++
		if outcome == string(agent.RequiresConfirmation) {
			var data struct {
				ID string `json:"proposal_id"`
			}
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			p, err := l.staging.Proposal(data.ID)
			if err != nil {
				t.Fatalf("%s %s: %v", name, raw, err)
			}
			for _, f := range p.Files {
				if !l.mayHold(f.Path) {
					t.Fatalf("staged a change of %s: %s", f.Path, raw)
				}
			}
			if ids = append(ids, data.ID); r.IntN(4) == 0 {
				token, err := l.staging.Mint(data.ID)
				if err != nil {
					t.Fatal(err)
				}
				confirmed[p.Digest()]++
				tokens = append(tokens, token, data.ID, token[1:], token+"x")
				waiting = append(waiting[max(0, len(waiting)-4):], confirmedCall{name, token, args})
			}
		}
		clock = clock.Add(time.Duration(r.IntN(8)) * time.Second)
	}
	applied := map[agent.Digest]int{}
	for _, d := range l.editor.applied {
		applied[d]++
	}
	for d, n := range applied {
		if n > confirmed[d] {
			t.Errorf("a change was applied %d times and confirmed %d times", n, confirmed[d])
		}
	}
	if l.disk() != before {
		t.Error("something on the disk changed")
	}
	if len(ids) == 0 || len(l.editor.applied) == 0 || counts["ok"] == 0 || counts[string(agent.PermissionDenied)] == 0 {
		t.Errorf("the suite does not try what it is for: %v, %d staged, %d applied", counts, len(ids), len(l.editor.applied))
	}
	t.Logf("%d calls: %v; %d proposals staged, %d confirmations, %d applied; 0 reads outside, 0 unconfirmed changes", *attempts, counts, len(ids), len(tokens)/4, len(l.editor.applied))
}

// Each path by each tool that takes one, and each diff form of each path.
func TestHostilePaths(t *testing.T) {
	l := newLair(t)
	before := l.disk()
	r := rand.New(rand.NewPCG(1, 2))
	reads, writes := 0, 0
	for _, path := range l.paths() {
		for _, c := range []struct {
			tool string
			args map[string]any
		}{
			{"read_file", map[string]any{"path": path, "start_line": 1, "end_line": 50}},
			{"list_files", map[string]any{"glob": path, "include_hidden": true}},
			{"search_text", map[string]any{"query": "zebra quartz", "paths": []any{path}}},
			{"get_symbol_definition", map[string]any{"symbol_id": path + "#main"}},
			{"get_references", map[string]any{"symbol_id": path + "#main"}},
			{"get_diagnostics", map[string]any{"path": path}},
			{"retrieve_context", map[string]any{"query": "zebra quartz", "current_path": path, "language": ""}},
			{"codebase_search", map[string]any{"query": "zebra quartz", "path_glob": path}},
			{"find_similar", map[string]any{"code": "zebra quartz harmonium", "exclude_path": path}},
		} {
			raw, err := json.Marshal(c.args)
			if err != nil {
				t.Fatal(err)
			}
			e := l.box.Call(t.Context(), c.tool, raw)
			if text := e.String(); strings.Contains(text, canary) {
				t.Errorf("%s %q: %s", c.tool, path, text)
			}
			reads++
		}
		for range 6 {
			for tool, args := range map[string]map[string]any{
				"apply_unified_diff": {"diff": diffOf(r, path)},
				"apply_text_edits":   {"path": path, "edits": []any{map[string]any{"start_line": 1, "start_col": 0, "end_line": 1, "end_col": 0, "replacement": "x"}}},
			} {
				raw, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				e := l.box.Call(t.Context(), tool, raw)
				if e.OK || e.Error.Code != agent.RequiresConfirmation {
					writes++
					continue
				}
				var data struct {
					ID string `json:"proposal_id"`
				}
				if err := json.Unmarshal(e.Data, &data); err != nil {
					t.Fatal(err)
				}
				p, err := l.staging.Proposal(data.ID)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range p.Files {
					if !l.mayHold(f.Path) {
						t.Errorf("%s %s stages a change of %s", tool, raw, f.Path)
					}
				}
				writes++
			}
		}
	}
	if l.disk() != before || len(l.editor.applied) != 0 {
		t.Errorf("something changed; %d applied", len(l.editor.applied))
	}
	t.Logf("%d reads and %d changes tried: 0 reads outside, 0 unconfirmed changes", reads, writes)
}

// A proposal is not trusted for who made it: a patcher that is fooled completely
// stages nothing outside.
type fooled struct{ p agent.Proposal }

func (f fooled) Patch(context.Context, string) (agent.Proposal, error) { return f.p, nil }
func (f fooled) Edit(context.Context, string, []agent.RangeEdit) (agent.Proposal, error) {
	return f.p, nil
}
func (f fooled) Changes(context.Context, []agent.FileEdits) (agent.Proposal, error) { return f.p, nil }

// readSome reads a regular file.
func readSome(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return os.ReadFile(path)
}

func TestHostileProposals(t *testing.T) {
	l := newLair(t)
	tried, staged := 0, 0
	for _, path := range l.paths() {
		for _, at := range []string{path, filepath.Join(l.root, filepath.FromSlash(path)), l.root + string(filepath.Separator) + path} {
			for _, create := range []bool{false, true} {
				good := agent.FileChange{Path: filepath.Join(l.root, "main.go"), Base: agent.HashText("package main\n\nfunc main() {}\n"), Edits: []agent.TextEdit{{New: "x"}}}
				bad := agent.FileChange{Path: at, Create: create, Base: agent.HashText(""), Edits: []agent.TextEdit{{New: "x"}}}
				if text, err := readSome(at); err == nil && !create {
					bad.Base = agent.HashText(string(text)) // it may even know what is there
				}
				for _, files := range [][]agent.FileChange{{bad}, {good, bad}} {
					box := agent.NewToolbox(agent.Parts{Workspace: l.space, Patcher: fooled{agent.Proposal{Files: files}}, Staging: l.staging, Apply: l.editor.Apply})
					e := box.Call(t.Context(), "apply_unified_diff", json.RawMessage(`{"diff":"x"}`))
					tried++
					if e.Error == nil || e.Error.Code != agent.RequiresConfirmation {
						continue
					}
					if staged++; !l.mayHold(filepath.Clean(at)) || !filepath.IsAbs(at) {
						t.Errorf("staged a change of %q (create %t)", at, create)
					}
				}
			}
		}
	}
	if staged == 0 {
		t.Error("none was staged; this tests nothing")
	}
	t.Logf("%d proposals of a fooled patcher: %d staged inside, 0 outside", tried, staged)
}

// A folder that turns into a link out while it is read is never followed.
func TestHostileSwap(t *testing.T) {
	l := newLair(t)
	if !l.links {
		t.Skip("this system makes no links")
	}
	flip := filepath.Join(l.root, "flip")
	l.write("root/flip/secret.go", "package flip\n\nfunc Harmless() {}\n")
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		aside := filepath.Join(l.root, "aside")
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			err := errors.Join(os.Rename(flip, aside), os.Symlink(filepath.Join(l.top, "elsewhere"), flip), os.Remove(flip), os.Rename(aside, flip))
			if err != nil {
				stopped <- err
				return
			}
		}
	}()
	read, refused := 0, 0
	for range *attempts {
		e := l.box.Call(t.Context(), "read_file", json.RawMessage(`{"path":"flip/secret.go","start_line":1,"end_line":5}`))
		if text := e.String(); strings.Contains(text, canary) {
			t.Fatal(text)
		}
		if e.OK {
			read++
		} else {
			refused++
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	t.Logf("%d reads while a folder turns into a link out and back: %d of the folder, %d refused, 0 outside", *attempts, read, refused)
}
