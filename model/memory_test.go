package model_test

import (
	"strings"
	"testing"

	"quarry/model"
	"quarry/model/ollamatest"
)

// A model that was brought from a file is seen in memory, and leaves it: Ollama lists its runner under the name that loaded
// it first, which quarry has deleted.
func TestRealImportedModelInMemory(t *testing.T) {
	s := ollamatest.StartEmpty(t)
	l := library(t, s.URL)
	s.Create("before", ollamatest.Tiny)
	loadedAs := ready(t, optionsFor(s.URL, "before"))
	loadedAs.Close()
	if err := l.Copy(t.Context(), "before", "mine:1b"); err != nil {
		t.Fatal(err)
	}
	if err := l.Remove(t.Context(), "before"); err != nil {
		t.Fatal(err)
	}
	list := s.Loaded()
	if len(list) != 1 || list[0].Name != "before:latest" {
		t.Fatalf("in memory: %+v; the test wants a runner with a name that is gone", list)
	}
	o := ready(t, optionsFor(s.URL, "mine:1b"))
	if n := s.Loads(); n != 1 {
		t.Fatalf("%d loads", n)
	}
	if sizes, err := o.InMemory(t.Context(), "mine:1b", "Mine:1B", "absent"); err != nil || sizes[0] != list[0].Size || sizes[1]+sizes[2] != 0 {
		t.Errorf("%v, %v; want %d once", sizes, err, list[0].Size)
	}
	said := ""
	for _, f := range o.Check(soon(t)) {
		if f.Name == "load" {
			said = f.Detail
		}
	}
	if !strings.Contains(said, "GB") {
		t.Errorf("the check-up says %q, and not how it is in memory", said)
	}
	if err := o.Unload(soon(t), "mine:1b"); err != nil {
		t.Fatal(err)
	}
	if list := s.Loaded(); len(list) != 0 {
		t.Errorf("in memory behind it: %+v", list)
	}
}

// optionsFor are options for a model.
func optionsFor(url, name string) model.Options {
	opt := options(url)
	opt.Model = name
	return opt
}
