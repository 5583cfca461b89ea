package agent_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quarry/agent"
)

// desk is a staging with a clock and a workspace that a test moves.
type desk struct {
	*agent.Staging
	now   time.Time
	scope string
}

func newDesk() *desk {
	d := &desk{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), scope: "/work"}
	d.Staging = agent.NewStaging(func() string { return d.scope }, func() time.Time { return d.now })
	return d
}

func change(path, text string) agent.Proposal {
	return agent.Proposal{
		Title: "change " + path,
		Diff:  "--- " + path + "\n+" + text,
		Files: []agent.FileChange{{Path: path, Base: agent.HashText("old"), Edits: []agent.TextEdit{{Start: 0, End: 3, New: text}}}},
	}
}

func TestConfirmedChangeIsAppliedOnce(t *testing.T) {
	d := newDesk()
	p := change("/work/a.go", "new")
	id := d.Stage(p)
	token, err := d.Mint(id)
	if err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(59 * time.Second)
	got, err := d.Redeem(token, p.Digest())
	if err != nil || got.Digest() != p.Digest() || got.Title != p.Title {
		t.Fatalf("redeem: %+v, %v", got, err)
	}
	if _, err := d.Redeem(token, p.Digest()); !errors.Is(err, agent.ErrNotConfirmed) {
		t.Errorf("a second use: %v", err)
	}
	if _, err := d.Mint(id); !errors.Is(err, agent.ErrNotStaged) {
		t.Errorf("a token for what was applied: %v", err)
	}
}

func TestTokenAllowsNothingElse(t *testing.T) {
	p, other := change("/work/a.go", "new"), change("/work/b.go", "new")
	for name, tamper := range map[string]func(d *desk, token *string, want *agent.Digest){
		"too late":          func(d *desk, _ *string, _ *agent.Digest) { d.now = d.now.Add(60 * time.Second) },
		"another workspace": func(d *desk, _ *string, _ *agent.Digest) { d.scope = "/elsewhere" },
		"another change":    func(_ *desk, _ *string, want *agent.Digest) { *want = other.Digest() },
		"no token":          func(_ *desk, token *string, _ *agent.Digest) { *token = "" },
		"part of the token": func(_ *desk, token *string, _ *agent.Digest) { *token = (*token)[1:] },
		"discarded":         func(d *desk, _ *string, _ *agent.Digest) { d.Discard(d.Stage(p)) },
		"given way":         func(d *desk, _ *string, _ *agent.Digest) { d.flood() },
	} {
		d := newDesk()
		token, err := d.Mint(d.Stage(p))
		if err != nil {
			t.Fatal(err)
		}
		shown, want := token, p.Digest()
		tamper(d, &shown, &want)
		if got, err := d.Redeem(shown, want); !errors.Is(err, agent.ErrNotConfirmed) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		// A token that was shown is spent, even where the change would have waited.
		if shown == token {
			d.scope, d.now = "/work", d.now.Add(-time.Hour)
			if _, err := d.Redeem(token, p.Digest()); err == nil {
				t.Errorf("%s: a spent token was taken", name)
			}
		}
	}
}

// flood stages so much that what waited before does not any more.
func (d *desk) flood() {
	for i := range 100 {
		d.Stage(change("/work/many.go", string(rune('a'+i))))
	}
}

func TestStagedIdIsNoToken(t *testing.T) {
	d := newDesk()
	p := change("/work/a.go", "new")
	if _, err := d.Redeem(d.Stage(p), p.Digest()); !errors.Is(err, agent.ErrNotConfirmed) {
		t.Errorf("an id was taken for a token: %v", err)
	}
	if _, err := d.Mint("p1"); !errors.Is(err, agent.ErrNotStaged) {
		t.Errorf("a token for an unknown id: %v", err)
	}
}

// The caller cannot change what waits, nor whoever looks at it.
func TestStagedProposalIsFixed(t *testing.T) {
	d := newDesk()
	p := change("/work/a.go", "new")
	want := p.Digest()
	id := d.Stage(p)
	p.Files[0].Edits[0].New = "rm -rf"
	shown, err := d.Proposal(id)
	if err != nil {
		t.Fatal(err)
	}
	shown.Files[0].Path = "/etc/passwd"
	if again, _ := d.Proposal(id); again.Digest() != want {
		t.Error("what waits was changed from outside")
	}
}

// Whatever is done in whatever order, a change comes out of the staging only with
// a token that was minted for it, less than a minute ago, in this workspace, and
// only once.
func TestStagingProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type minted struct {
			digest agent.Digest
			scope  string
			at     time.Time
			spent  bool
		}
		d := newDesk()
		var ids []string
		scopes := map[string]string{}
		digests := map[string]agent.Digest{}
		tokens := map[string]*minted{}
		names := []string{"", "guess"}
		paths := rapid.SampledFrom([]string{"/work/a.go", "/work/b.go", "/work/c.go"})
		draw := func(from []string, what string) string { return rapid.SampledFrom(from).Draw(t, what) }
		t.Repeat(map[string]func(*rapid.T){
			"stage": func(t *rapid.T) {
				p := change(paths.Draw(t, "path"), "x")
				id := d.Stage(p)
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
				digests[id], scopes[id] = p.Digest(), d.scope
			},
			"mint": func(t *rapid.T) {
				id := draw(append([]string{"none"}, ids...), "id")
				if token, err := d.Mint(id); err == nil {
					tokens[token] = &minted{digests[id], scopes[id], d.now, false}
					names = append(names, token)
				}
			},
			"wait":    func(t *rapid.T) { d.now = d.now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "s")) * time.Second) },
			"move":    func(t *rapid.T) { d.scope = draw([]string{"/work", "/elsewhere"}, "scope") },
			"discard": func(t *rapid.T) { d.Discard(draw(append([]string{"none"}, ids...), "id")) },
			"redeem": func(t *rapid.T) {
				token := draw(names, "token")
				want := change(paths.Draw(t, "path"), "x").Digest()
				got, err := d.Redeem(token, want)
				m := tokens[token]
				if err == nil && (m == nil || m.spent || m.digest != want || m.scope != d.scope || d.now.Sub(m.at) >= time.Minute) {
					t.Fatalf("redeemed by %+v", m)
				}
				if err == nil && got.Digest() != want {
					t.Fatal("another change came out")
				}
				if m != nil {
					m.spent = true
				}
			},
		})
	})
}
