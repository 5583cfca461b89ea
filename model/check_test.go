package model_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"quarry/model"
	"quarry/model/modeltest"
	"quarry/model/ollamatest"
)

// findings are Check's as one line each: "ok name" or "!! name: detail | fix".
func findings(t *testing.T, opt model.Options) string {
	t.Helper()
	o, err := model.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	var b strings.Builder
	for _, f := range o.Check(soon(t)) {
		if f.OK && f.Fix == "" {
			b.WriteString("ok " + f.Name + "\n")
		} else {
			b.WriteString("!! " + f.Name + ": " + f.Detail + " | " + f.Fix + "\n")
		}
	}
	return b.String()
}

func TestCheck(t *testing.T) {
	const good = "ok ollama\nok model\nok context length\nok load\nok fill in the middle\nok speed\nok chat\n"
	for _, c := range []struct {
		name  string
		setup func(*modeltest.Server, *model.Options)
		want  string
	}{
		{"all well", func(*modeltest.Server, *model.Options) {}, good},
		{"down", func(s *modeltest.Server, _ *model.Options) { s.Stop() },
			"!! ollama: Ollama does not answer | start it with `ollama serve` or by opening the Ollama app, quarry asks it at URL (to install it: https://ollama.com/download)\n"},
		{"old", func(s *modeltest.Server, _ *model.Options) { s.SetVersion("0.12.6") },
			strings.Replace(good, "ok ollama", "!! ollama: version 0.12.6 at URL | update Ollama: versions before 0.13 cut long prompts without saying so", 1)},
		{"development build", func(s *modeltest.Server, _ *model.Options) { s.SetVersion("0.0.0") }, good},
		{"missing", func(s *modeltest.Server, _ *model.Options) { s.SetModels() },
			"ok ollama\n!! model: Ollama has no model granite4.1:3b | run `quarry model pull granite4.1:3b`\n"},
		{"missing, and chosen by nobody", func(s *modeltest.Server, opt *model.Options) { s.SetModels(); opt.Unchosen = true },
			"ok ollama\n!! model: Ollama has no model granite4.1:3b | run `quarry setup model`\n"},
		{"context", func(_ *modeltest.Server, opt *model.Options) { opt.NumCtx = 200_000 },
			strings.Replace(good, "ok context length", "!! context length: 200000 tokens | set the context length to at most 131072, which is all the model takes", 1)},
		{"no tags", func(s *modeltest.Server, _ *model.Options) {
			s.SetModels(modeltest.Model{Name: "granite4.1:3b", NoFIM: true})
		}, "ok ollama\nok model\nok context length\nok load\n!! fill in the middle: granite4.1:3b cannot complete code | choose qwen2.5-coder:1.5b or another that fills in the middle, or set completion.template to custom and completion.templateTags to the tags it was trained with (it does not know the tags <|fim_prefix|> <|fim_suffix|> <|fim_middle|>)\n"},
		{"ghost text only", func(s *modeltest.Server, _ *model.Options) {
			s.SetModels(modeltest.Model{Name: "granite4.1:3b", NoChat: true})
		}, strings.Replace(good, "ok chat", "!! chat: ghost text only: it has no chat template, so that questions reach it without roles and a system prompt | for questions and explanations choose another model, such as qwen2.5-coder:1.5b", 1)},
		{"hybrid", func(s *modeltest.Server, _ *model.Options) {
			s.SetModels(modeltest.Model{Name: "granite4.1:3b", Architecture: "granitehybrid"})
		}, strings.Replace(good, "ok context", "!! model kind: hybrid | granite4.1:3b is a hybrid model, for which Ollama reads the whole prompt again at every keystroke: qwen2.5-coder:1.5b, which is dense, answers many times sooner\nok context", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.NewServer(t)
			opt := options(s.URL)
			c.setup(s, &opt)
			if got := findings(t, opt); got != strings.ReplaceAll(c.want, "URL", s.URL) {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// finding is one line of a check-up.
func finding(t *testing.T, opt model.Options, name string) model.Finding {
	t.Helper()
	o, err := model.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	list := o.Check(soon(t))
	for _, f := range list {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no finding on %s: %+v", name, list)
	return model.Finding{}
}

// A model that has nothing to add to any of three beginnings of code has failed; one answer
// without text is none.
func TestTheCheckOfAModelThatAnswersNothing(t *testing.T) {
	for api, at := range map[string]func(string) model.Options{"ollama": options, "openai": openAIOptions} {
		s := modeltest.NewServer(t)
		s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{} })
		if f := finding(t, at(s.URL), "speed"); f.OK || !strings.HasSuffix(f.Detail, " answers nothing") || !strings.HasPrefix(f.Fix, "choose another, such as ") {
			t.Errorf("%s: %+v", api, f)
		}
		n := 0
		s.Script(func(r modeltest.Request) modeltest.Answer {
			if n++; strings.Contains(r.Prompt, "prime numbers") {
				return modeltest.Answer{}
			}
			return modeltest.Answer{Pieces: []string{"text"}}
		})
		if f := finding(t, at(s.URL), "speed"); !f.OK || n == 0 {
			t.Errorf("%s, where one answer has no text: %+v", api, f)
		}
	}
}

func TestTheCheckOfASlowModel(t *testing.T) {
	for took, want := range map[time.Duration]model.Finding{
		10 * time.Second:       {Detail: "0.4 tokens a second", Note: true},
		800 * time.Millisecond: {Detail: "5.0 tokens a second"},
		401 * time.Millisecond: {Detail: "10 tokens a second"},
		20 * time.Millisecond:  {Detail: "200 tokens a second"},
	} {
		s := modeltest.NewServer(t)
		s.Script(func(modeltest.Request) modeltest.Answer {
			return modeltest.Answer{Pieces: []string{"2", ", ", "3", ", "}, Took: took}
		})
		f := finding(t, options(s.URL), "speed")
		if !f.OK || f.Detail != want.Detail || f.Note != want.Note || strings.HasPrefix(f.Fix, "choose a smaller model") != want.Note {
			t.Errorf("%v: %+v", took, f)
		}
	}
}

// Where the server does not count tokens nothing shows that the tags are the model's: what is
// assumed is said to be.
func TestTheCheckSaysWhatItAssumes(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "granite4.1:3b", NoFIM: true, NoCounts: true})
	f := finding(t, openAIOptions(s.URL), model.FillsIn)
	if !f.OK || !f.Note || !strings.HasPrefix(f.Detail, "assumed to be granite, ") || !strings.Contains(f.Detail, "does not count tokens") || !strings.Contains(f.Fix, "completion.template") {
		t.Errorf("%+v", f)
	}
	s.SetModels(modeltest.Model{Name: "granite4.1:3b"})
	if f := finding(t, openAIOptions(s.URL), model.FillsIn); !f.OK || f.Note || f.Detail != "as granite, whose tags are one token each" {
		t.Errorf("where it counts: %+v", f)
	}
}

// What the check-up asks is what completions ask, field by field: a server that
// refuses them must not pass.
func TestTheCheckAsksAsCompletionsDo(t *testing.T) {
	for name, opt := range map[string]func(string) model.Options{"ollama": options, "openai": openAIOptions} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.NewServer(t)
			opt := opt(s.URL)
			stops := []string{"<1>", "<2>", "<3>", "<4>", "<5>"}
			opt.Families = []model.Family{{Name: "granite", Tags: graniteTags, Stops: stops}}
			findings(t, opt)
			checked := s.Prompts()
			if _, _, err := collect(soon(t), ready(t, opt), fim("x", ""), 20, stops...); err != nil {
				t.Fatal(err)
			}
			want := fields(t, s.Prompts()[len(s.Prompts())-1])
			for _, r := range checked {
				if got := fields(t, r); got != want {
					t.Errorf("the check sent\n%s\nand completions\n%s", got, want)
				}
			}
			if len(checked) < 2 {
				t.Errorf("%d requests in a check", len(checked))
			}
		})
	}
}

// fields are those of a request's body but for its text and length.
func fields(t *testing.T, r modeltest.Request) string {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	delete(body, "prompt")
	delete(body, "max_tokens")
	if options, ok := body["options"].(map[string]any); ok {
		delete(options, "num_predict")
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCheckOfARealOllama(t *testing.T) {
	s := ollamatest.Start(t)
	s.Create("plain", ollamatest.Shape{Layers: 1, Embedding: 64, FFN: 64, Context: 1024, NoFIM: true})
	if got := findings(t, options(s.URL)); strings.Contains(got, "!!") {
		t.Errorf("got\n%s", got)
	}
	o, err := model.New(options(s.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, f := range o.Check(soon(t)) {
		if f.Name == "load" && !regexp.MustCompile(`^in memory after \S+, 0\.0 GB on the processor$`).MatchString(f.Detail) {
			t.Errorf("the model is %q", f.Detail)
		}
	}
	opt := options(s.URL)
	opt.Model = "plain"
	got := findings(t, opt)
	for _, want := range []string{"!! context length: 2048 tokens | set the context length to at most 1024", "!! fill in the middle: plain cannot complete"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%swithout %q", got, want)
		}
	}
	opt.Model, opt.NumCtx = "granite4.1:3b", 1024
	if got := findings(t, opt); !strings.Contains(got, "granite4.1:3b was in memory with a context of 2048 tokens | if another program uses it too") {
		t.Errorf("got\n%s", got)
	}
	asOpenAI := options(s.URL + "/v1/") // as other programs want it
	if got := findings(t, asOpenAI); strings.Contains(got, "!! ollama") || !strings.Contains(got, "ok fill in the middle") {
		t.Errorf("got\n%s", got)
	}
	s.CreateBert("letters", ollamatest.TinyBert)
	opt.Model = "letters"
	if got := findings(t, opt); !strings.HasSuffix(got, "!! model: letters embeds text, and completes none | set model to another, such as granite4.1:3b (for search it is embedding.model)\n") {
		t.Errorf("got\n%s", got)
	}
	embeds, err := model.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer embeds.Close()
	if err := embeds.Unsuitable(soon(t)); !errors.Is(err, model.ErrEmbeds) {
		t.Error(err)
	}
	opt.Model = "absent"
	if got := findings(t, opt); !strings.Contains(got, "quarry model pull absent") {
		t.Errorf("got\n%s", got)
	}
}
