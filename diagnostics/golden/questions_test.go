package golden_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"quarry/agent/cite"
	"quarry/diagnostics/golden"
)

// The questions on real repositories are about repositories that are fetched, and
// each has a place or none.
func TestQuestions(t *testing.T) {
	testdata := filepath.Join("..", "..", "testdata")
	s, err := golden.Load(filepath.Join(testdata, "questions"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(testdata, "holes", "repositories.json"))
	if err != nil {
		t.Fatal(err)
	}
	var repositories []struct{ Name string }
	if err := json.Unmarshal(raw, &repositories); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, r := range repositories {
		known[r.Name] = true
	}
	unanswerable := 0
	for _, task := range s.Tasks {
		if !known[task.Repository] || task.Kind != golden.Where || task.Unanswerable == (len(task.Locations) > 0) {
			t.Errorf("%+v", task)
		}
		for _, place := range task.Locations {
			if _, ok := cite.Parse(place); !ok {
				t.Errorf("%s: the place %s cannot be read", task.ID, place)
			}
		}
		if task.Unanswerable {
			unanswerable++
		}
	}
	if len(s.Tasks) < 30 || unanswerable < 10 {
		t.Errorf("%d questions, %d of them without an answer", len(s.Tasks), unanswerable)
	}
	if _, err := s.Split(""); err == nil {
		t.Error("no folder of the repositories is needed")
	}
	if suites, err := s.Split(t.TempDir()); err != nil || len(suites) != 5 || filepath.Base(suites[0].Workspace) != suites[0].Tasks[0].Repository {
		t.Errorf("%d suites, %v", len(suites), err)
	}
}
