package model_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/model"
	"quarry/model/modeltest"
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
	if sizes, told, err := o.InMemory(t.Context(), "mine:1b", "Mine:1B", "absent"); err != nil || !told || sizes[0] != list[0].Size || sizes[1]+sizes[2] != 0 {
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

// Of a model that was replaced, and of one that failed its trial, nothing stays: not in memory, nor on the disk.
func TestRealReplacedModelGoes(t *testing.T) {
	s := ollamatest.StartEmpty(t)
	l := library(t, s.URL)
	second, blind := filepath.Join(t.TempDir(), "second.gguf"), filepath.Join(t.TempDir(), "blind.gguf")
	if err := errors.Join(
		ollamatest.WriteGranite(second, ollamatest.Shape{Layers: 1, Embedding: 64, FFN: 64, Context: 4096}),
		ollamatest.WriteGranite(blind, ollamatest.Shape{Layers: 1, Embedding: 64, FFN: 128, Context: 4096, NoFIM: true}),
	); err != nil {
		t.Fatal(err)
	}
	s.Create("mine:1b", ollamatest.Tiny)
	ready(t, optionsFor(s.URL, "mine:1b")).Close()
	if list := s.Loaded(); len(list) != 1 {
		t.Fatalf("in memory: %+v", list)
	}
	nothing := func(when string) {
		t.Helper()
		if list := s.Loaded(); len(list) != 0 {
			t.Errorf("%s, in memory: %+v", when, list)
		}
		if _, left, err := model.FindOrphans(s.Models()); err != nil || len(left) != 0 {
			t.Errorf("%s, files of no model: %+v, %v", when, left, err)
		}
		if list, err := l.List(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("%s, models: %+v, %v", when, list, err)
		}
	}
	load := func(trial string) error {
		o, err := model.New(optionsFor(s.URL, trial))
		if err != nil {
			return err
		}
		return o.Unsuitable(soon(t))
	}
	if _, err := l.Import(soon(t), second, "mine:1b", "", func(string, int64, int64) {}, load); err != nil {
		t.Fatal(err)
	}
	nothing("after it was replaced")
	if _, err := l.Import(soon(t), blind, "mine:1b", "", func(string, int64, int64) {}, load); !errors.Is(err, model.ErrNoFIM) {
		t.Errorf("one without tags: %v", err)
	}
	nothing("after a trial that failed")
	// The same once more while it is asked: it stays in memory.
	ready(t, optionsFor(s.URL, "mine:1b")).Close()
	if _, err := l.Import(soon(t), second, "mine:1b", "", func(string, int64, int64) {}, load); err != nil {
		t.Fatal(err)
	}
	if list := s.Loaded(); len(list) != 1 || list[0].Name != "mine:1b" {
		t.Errorf("what is there was imported again; in memory: %+v", list)
	}
}

// optionsFor are options for a model.
func optionsFor(url, name string) model.Options {
	opt := options(url)
	opt.Model = name
	return opt
}

// Of a server that is no Ollama memory is what it says that weights have, and whether it says so is told.
func TestInMemoryOnAnotherServer(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "a", Bytes: 5e9}, modeltest.Model{Name: "b", Bytes: 1e8}, modeltest.Model{Name: "silent"})
	o, err := model.New(model.Options{API: model.OpenAIAPI, URL: fake.URL, Model: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, test := range []struct {
		names []string
		want  []int64
		told  bool
	}{
		{[]string{"a", "b", "absent"}, []int64{5e9, 1e8, 0}, true},
		{[]string{"a", "silent"}, []int64{5e9, 0}, false},
		{nil, []int64{}, true},
	} {
		if got, told, err := o.InMemory(t.Context(), test.names...); err != nil || told != test.told || !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, %v, %v", test.names, got, told, err)
		}
	}
}
