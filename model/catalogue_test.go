package model_test

import (
	"strings"
	"testing"

	"quarry/completion"
	"quarry/model"
)

// Every model that quarry comes with can be asked for, and says what it costs.
func TestShippedCatalogue(t *testing.T) {
	c, err := model.LoadCatalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	uses := map[string]int{}
	for _, e := range c.Models {
		uses[e.Use]++
		if e.Bits == 0 || e.Context == 0 || e.Licence == "" || e.About == "" || e.Download == 0 || e.Memory <= e.Download {
			t.Errorf("%s lacks something, or takes less memory than it has bytes: %+v", e.Name, e)
		}
		if e.Use != model.ForCompletion {
			continue
		}
		if likeliest := (completion.Choice{}).Families(e.Name)[0].Name; likeliest != e.Family {
			t.Errorf("%s: the catalogue says family %s, its name %s", e.Name, e.Family, likeliest)
		}
	}
	if uses[model.ForCompletion] < 3 || uses[model.ForSearch] < 1 {
		t.Errorf("uses %v", uses)
	}
}

// The recommendation leaves a machine the memory that everything else on it needs.
func TestRecommend(t *testing.T) {
	c, err := model.LoadCatalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	for memory, want := range map[int64]string{
		64e9: "granite4.1:3b", 16e9: "granite4.1:3b", 8e9: "qwen2.5-coder:1.5b", 2e9: "qwen2.5-coder:1.5b", 0: "granite4.1:3b",
	} {
		if e, why := c.Recommend(model.ForCompletion, memory); e.Name != want || why == "" {
			t.Errorf("%s for %s: %s; want %s", e.Name, model.Gigabytes(memory), why, want)
		}
	}
	if model.MachineMemory() < 0 {
		t.Error("a machine with less than no memory")
	}
}

// A user's own catalogue comes first, and a damaged one says what is wrong with it.
func TestOwnCatalogue(t *testing.T) {
	shipped, err := model.LoadCatalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := model.LoadCatalogue([]byte(`{"version": 1, "models": [{"name": "ours:7b", "use": "completion", "memory": 1}, {"name": "granite4:micro", "use": "completion", "digest": "sha256:ab"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Models) != len(shipped.Models)+1 || c.Models[0].Name != "ours:7b" {
		t.Errorf("%d models, the first %s", len(c.Models), c.Models[0].Name)
	}
	if e, ok := c.Find("granite4:micro:latest"); !ok || e.Digest != "sha256:ab" {
		t.Errorf("%+v: the user's entry replaces the shipped one", e)
	}
	for text, says := range map[string]string{
		`{`:                              "no catalogue",
		`{"version": 2}`:                 "version 2",
		`{"version": 1, "models": [{}]}`: "no name",
		`{"version": 1, "models": [{"name": "x", "use": "chat"}]}`:             `use is "chat"`,
		`{"version": 1, "models": [{"name": "x:cloud", "use": "completion"}]}`: "other machines",
	} {
		if _, err := model.LoadCatalogue([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
