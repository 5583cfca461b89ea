package model_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"quarry/model"
	"quarry/model/modeltest"
)

var (
	unknownTags = model.Family{Name: "granite", Tags: graniteTags}
	serversOwn  = model.Family{Name: "infill", Between: "\x00infill\x00"}
)

// A server that fills in the middle by itself serves a model whose tags quarry does not
// know: it gets prefix and suffix apart, and says what else every completion says.
func TestInfill(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "granite4.1:3b", Tags: []string{}, Infills: true})
	opt := openAIOptions(s.URL)
	opt.Families = []model.Family{unknownTags, serversOwn}
	o := ready(t, opt)
	if o.Family() != "infill" {
		t.Fatalf("family %q", o.Family())
	}
	s.Queue(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Logprobs: []float64{-0.5, -0.25, -3}})
	var pieces []string
	var lps []float64
	n, err := o.Generate(soon(t), "be\"fore"+serversOwn.Between+"after", 2, []string{"\n\n"}, 0, func(p string, lp float64) bool {
		pieces, lps = append(pieces, p), append(lps, lp)
		return true
	})
	if err != nil || strings.Join(pieces, "|") != "a|b" || lps[0] != -0.5 || lps[1] != -0.25 {
		t.Errorf("got %q %v, %v", pieces, lps, err)
	}
	if want := modeltest.CountTokens("be\"fore"+modeltest.Infill+"after", true); n != want {
		t.Errorf("%d prompt tokens, want %d", n, want)
	}
	all := s.Prompts()
	last := all[len(all)-1]
	var body map[string]any
	if err := json.Unmarshal(last.Body, &body); err != nil {
		t.Fatal(err)
	}
	if last.Path != "/infill" || body["input_prefix"] != `be"fore` || body["input_suffix"] != "after" || body["n_predict"] != 2.0 ||
		body["model"] != "granite4.1:3b" || body["temperature"] != 0.2 || body["cache_prompt"] != true || body["prompt"] != "" {
		t.Errorf("request %s %s", last.Path, last.Body)
	}
	// The beginning of a prompt, which is sent so that the server reads it in steps.
	if _, _, err := collect(soon(t), o, "begin", 1); err != nil {
		t.Error(err)
	}
	if all = s.Prompts(); all[len(all)-1].Prompt != "begin"+modeltest.Infill {
		t.Errorf("a beginning was sent as %q", all[len(all)-1].Prompt)
	}
	if findings := o.Check(soon(t)); !findings[len(findings)-2].OK || !strings.Contains(findings[len(findings)-2].Detail, "/infill") {
		t.Errorf("doctor says %+v", findings)
	}
}

// Tags that quarry knows come first, and what no server can do is an error with its
// remedy: a llama.cpp whose model has no tags, a vLLM, an Ollama.
func TestInfillWhereItCannotBe(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "granite4.1:3b", Infills: true})
	opt := openAIOptions(s.URL)
	opt.Families = []model.Family{unknownTags, serversOwn}
	if o := ready(t, opt); o.Family() != "granite" {
		t.Errorf("family %q although the tags are there", o.Family())
	}
	s.SetModels(modeltest.Model{Name: "granite4.1:3b", Tags: []string{}})
	for _, families := range [][]model.Family{{unknownTags, serversOwn}, {serversOwn}} {
		for _, ollama := range []bool{false, true} {
			opt := openAIOptions(s.URL)
			if ollama {
				opt = options(s.URL)
			}
			opt.Families = families
			o := start(t, opt)
			if err := o.WaitReady(soon(t)); !errors.Is(err, model.ErrNoFIM) || !strings.Contains(err.Error(), "completion.template") {
				t.Errorf("ollama %v: %v", ollama, err)
			}
		}
	}
}

func TestInfillThatBreaksOff(t *testing.T) {
	s := modeltest.NewServer(t)
	s.SetModels(modeltest.Model{Name: "granite4.1:3b", Tags: []string{}, Infills: true})
	opt := openAIOptions(s.URL)
	opt.Families = []model.Family{serversOwn}
	o := ready(t, opt)
	s.Queue(modeltest.Answer{Pieces: []string{"a"}, NoDone: true})
	if _, _, err := collect(soon(t), o, "x"+serversOwn.Between, 5); !errors.Is(err, model.ErrBroken) {
		t.Errorf("an answer that breaks off: %v", err)
	}
	s.Queue(modeltest.Answer{ErrorLine: "slot is gone"})
	if _, _, err := collect(soon(t), o, "x"+serversOwn.Between, 5); err == nil || !strings.Contains(err.Error(), "slot is gone") {
		t.Errorf("an error in the stream: %v", err)
	}
}
