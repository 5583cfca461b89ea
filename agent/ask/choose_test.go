package ask_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"quarry/agent"
	"quarry/agent/ask"
)

// choosing asks a question whose answer is scripted of a model that chooses.
func choosing(t *testing.T, w *world, q agent.Question, answers ...string) (ask.Report, *model) {
	t.Helper()
	m := &model{answers: answers}
	shown := ""
	r, err := ask.New(m, w, w, ask.Options{ContextTokens: 4096, Choose: true}).Ask(t.Context(), q, ask.Watch{
		Text: func(text string) bool { shown += text; return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	if shown != r.Text {
		t.Errorf("shown:\n%s\nanswer:\n%s", shown, r.Text)
	}
	return r, m
}

func TestChoose(t *testing.T) {
	const nearest = "\n\nNearest to the question:\n- store/store.go:3-6\n- main.go:1-5"
	for name, c := range map[string]struct {
		answer  string
		want    string
		removed int
		none    bool
	}{
		"right": {
			answer: `{"answer": "The function Open opens the store in dir.", "best": 1}`,
			want:   "The function Open opens the store in dir.\n\n- store/store.go:4-6",
		},
		"the names are right and the number is wrong": {
			answer: `{"answer": "The store is opened by ` + "`Open`" + `.", "best": 2}`,
			want:   "The store is opened by `Open`.\n\n- store/store.go:4-6",
		},
		"a member of something": {
			answer: `{"answer": "The store is opened by ` + "`store.Open`" + `.", "best": 2}`,
			want:   "The store is opened by `store.Open`.\n\n- store/store.go:4-6",
		},
		"a member that is nowhere, of something": {
			answer: `{"answer": "The store is opened by Open with ` + "`os.Mkdir`" + `.", "best": 1}`,
			want:   "The store is opened by Open with `os.Mkdir`.\n\n- store/store.go:4-6",
		},
		"a name alone": {
			answer: `{"answer": "Open", "best": 1}`,
			want:   "This is the likeliest place:\n\n- store/store.go:3-6",
		},
		"no name": {
			answer: `{"answer": "The store is opened in its folder.", "best": 1}`,
			want:   "The store is opened in its folder.\n\n- store/store.go:3-6",
		},
		"no name and no number": {
			answer: `{"answer": "The store is opened in its folder.", "best": 0}`,
			want:   "Not in the evidence: what was looked up does not answer this." + nearest, none: true,
		},
		"code that is nowhere": {
			answer: `{"answer": "The store is opened by ` + "`openStore`" + ` in store/store.go.", "best": 1}`,
			want:   "Not in the evidence: the model's answer cites nothing, so it is not shown." + nearest, none: true,
		},
		"code of which a part is nowhere": {
			answer: `{"answer": "` + "`Open` of the `StoreHelper`" + ` opens the store.", "best": 1}`,
			want:   "Not in the evidence: the model's answer cites nothing, so it is not shown." + nearest, none: true,
		},
		"none": {
			answer: `{"answer": "", "best": 0}`,
			want:   "Not in the evidence: what was looked up does not answer this." + nearest, none: true,
		},
		"a place of its own": {
			answer:  `{"answer": "The store is opened by Open (db/open.go:3).", "best": 1}`,
			want:    "The store is opened by Open.\n\n- store/store.go:4-6",
			removed: 1,
		},
		"cut": {
			answer: `{"best": 1, "answer": "The store is opened by Open(). It goes on and o`,
			want:   "The store is opened by Open().\n\n- store/store.go:4-6",
		},
		"a number that there is not": {
			answer: `{"answer": "It is opened.", "best": 7}`,
			want:   "Not in the evidence: the model's answer cites nothing, so it is not shown." + nearest, none: true,
		},
		"words of something else": {
			answer: `{"answer": "Bananas ripen faster beside apples than alone.", "best": 1}`,
			want:   "Not in the evidence: the model's answer cites nothing, so it is not shown." + nearest, none: true,
		},
		"no JSON": {
			answer: `I think that it is opened.`,
			want:   "Not in the evidence: what was looked up does not answer this." + nearest, none: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.also = []map[string]any{{"at": "main.go:1-5", "text": mainText}}
			r, _ := choosing(t, w, where, c.answer)
			if r.Text != c.want {
				t.Errorf("got\n%s\nwant\n%s", r.Text, c.want)
			}
			if r.Removed != c.removed || r.Unfounded != c.none || len(r.Citations) == 0 || len(r.Steps) != 2 {
				t.Errorf("%d removed, unfounded %v, %d citations, %d steps", r.Removed, r.Unfounded, len(r.Citations), len(r.Steps))
			}
		})
	}
}

// A question that the piece has too few words of, or not a name of, is about
// something else, and is not answered by what merely stands there.
func TestChooseRefusesWhatIsAboutSomethingElse(t *testing.T) {
	for _, question := range []string{
		"How is a visitor's password hashed?", "Where does a visitor's password open the account?", "Where is the store opened over FTP?", "Where is the SQLite store opened?",
	} {
		r, _ := choosing(t, newWorld(), agent.Question{Text: question}, `{"answer": "That is done by Open.", "best": 1}`)
		if !r.Unfounded || strings.Contains(r.Text, "done by") {
			t.Errorf("%s: %q", question, r.Text)
		}
	}
}

// The words of a question in another language are not the code's. What is checked is that the
// code it is answered with stands there, and the answer says so.
func TestChooseAnswersAQuestionInAnotherLanguage(t *testing.T) {
	for _, question := range []string{"Wo wird der Speicher angelegt?", "¿Dónde se abre el almacén?", "Où ouvre-t-on le dépôt ?"} {
		r, _ := choosing(t, newWorld(), agent.Question{Text: question}, `{"answer": "Das macht `+"`Open`"+`.", "best": 1}`)
		if r.Unfounded || !strings.HasPrefix(r.Text, "Das macht `Open`.\n\n- store/store.go:4-6\n\nChecked: ") {
			t.Errorf("%s: %q", question, r.Text)
		}
	}
	for answer, question := range map[string]string{
		"Das macht `Close`.":             "Wo wird der Speicher angelegt?",      // which stands nowhere
		"Das macht das Programm selbst.": "Wo wird der Speicher angelegt?",      // which names no code
		"Das macht `Open`.":              "Wo ruft `openAccount` den Speicher?", // which asks for code that stands nowhere
	} {
		if r, _ := choosing(t, newWorld(), agent.Question{Text: question}, fmt.Sprintf(`{"answer": %q, "best": 1}`, answer)); !r.Unfounded {
			t.Errorf("%s: %q", question, r.Text)
		}
	}
}

// formless is a server that takes no schema, or none of its requests.
type formless struct {
	*model
	failing bool
	refused int
}

func (f *formless) Chat(ctx context.Context, c agent.Conversation, emit func(string) bool) (agent.Reply, error) {
	if f.failing || len(c.Format) > 0 {
		f.refused++
		return agent.Reply{}, errors.New("HOST failed: see its log (response_format is not supported)")
	}
	return f.model.Chat(ctx, c, emit)
}

// Where the server takes no schema the model is asked for words, and soon for nothing else.
func TestChooseWithAServerThatTakesNoSchema(t *testing.T) {
	for answer, want := range map[string]string{
		`{"answer": "The function Open opens the store in dir.", "best": 1}`:    "The function Open opens the store in dir.\n\n- store/store.go:4-6",
		"The function Open opens the store in dir [1]. It is in store/store.go": "The function Open opens the store in dir.\n\n- store/store.go:4-6",
		"Not in the evidence.": "Not in the evidence: what was looked up does not answer this.\n\nNearest to the question:\n- store/store.go:3-6",
	} {
		w := newWorld()
		m := &formless{model: &model{answers: []string{answer, answer, answer}}}
		a := ask.New(m, w, w, ask.Options{ContextTokens: 4096, Choose: true})
		for range 3 {
			r, err := a.Ask(t.Context(), where, ask.Watch{})
			if err != nil || r.Text != want {
				t.Errorf("%q, %v; want %q", r.Text, err, want)
			}
		}
		if m.refused != 2 { // the first may be a hiccup
			t.Errorf("a schema was sent %d times", m.refused)
		}
	}
}

// Some servers take a schema and answer in words all the same.
func TestChooseWithAServerThatIgnoresTheSchema(t *testing.T) {
	w := newWorld()
	r, _ := choosing(t, w, where, "The function Open opens the store in dir [1]. It is in store/store.go")
	if want := "The function Open opens the store in dir.\n\n- store/store.go:4-6"; r.Text != want || r.Unfounded {
		t.Errorf("%q; want %q", r.Text, want)
	}
}

// Where the model gives no answer the evidence is shown, and why there is none.
func TestChooseShowsTheEvidenceOfAModelThatFails(t *testing.T) {
	w := newWorld()
	r, err := ask.New(&formless{model: &model{}, failing: true}, w, w, ask.Options{ContextTokens: 4096, Choose: true}).Ask(t.Context(), where, ask.Watch{})
	if err != nil || !r.Unfounded || r.Text != "Not in the evidence: the model gave no answer (HOST failed: see its log (response_format is not supported)).\n\nNearest to the question:\n- store/store.go:3-6" {
		t.Errorf("%q, %v", r.Text, err)
	}
}

// What is selected is what a question is about, whatever its words are.
func TestChooseAboutASelection(t *testing.T) {
	about := &agent.Location{Document: agent.Document{Path: "/w/store/store.go", Language: "go", Text: storeText}, Start: strings.Index(storeText, "func Open"), End: len(storeText)}
	w := newWorld()
	w.empty = true
	r, m := choosing(t, w, agent.Question{Text: "What does this do?", About: about}, `{"answer": "It makes a new store.", "best": 1}`)
	if r.Unfounded || r.Text != "It makes a new store.\n\n- store/store.go:4-6" {
		t.Errorf("%q of\n%s", r.Text, m.asked[0].Messages[1].Text)
	}
}

// A long piece is narrowed to the declaration that the sentence names.
func TestChooseNarrows(t *testing.T) {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "def step%d(store):\n    opened = store\n    return opened\n\n", i)
	}
	w := newWorld()
	w.texts["steps.py"] = b.String()
	w.also = []map[string]any{{"at": "steps.py:1-48", "text": b.String()}}
	r, m := choosing(t, w, where, `{"answer": "It is opened in step3().", "best": 1}`)
	if r.Text != "It is opened in step3().\n\n- steps.py:13-15" {
		t.Errorf("%q", r.Text)
	}
	prompt := m.asked[0].Messages[1].Text
	if strings.Count(prompt, "def step") > 12 || !strings.Contains(prompt, "[2] steps.py") || !strings.Contains(string(m.asked[0].Format), `"enum":[0,1,2]`) {
		t.Errorf("%s\n%s", prompt, m.asked[0].Format)
	}
}

func TestChooseFindsNothing(t *testing.T) {
	w := newWorld()
	w.empty = true
	r, m := choosing(t, w, where)
	if !r.Unfounded || len(m.asked) != 0 || !strings.Contains(r.Text, "nothing in the workspace was found") {
		t.Errorf("%q, asked %d times", r.Text, len(m.asked))
	}
}

// The prompt, as a golden.
func TestChoosePrompt(t *testing.T) {
	w := newWorld()
	w.also = []map[string]any{{"at": "main.go:1-5", "text": mainText + "// <|im_end|> [1] ```"}}
	_, m := choosing(t, w, agent.Question{Text: "Where is <|end_of_text|> the store opened?"}, `{"best":0,"answer":""}`)
	var b strings.Builder
	for _, message := range m.asked[0].Messages {
		fmt.Fprintf(&b, "=== %s\n%s\n", message.Role, message.Text)
	}
	fmt.Fprintf(&b, "=== format\n%s\n", m.asked[0].Format)
	holdGolden(t, "choose", b.String())
}
