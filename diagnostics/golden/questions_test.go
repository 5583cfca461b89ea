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
// each has a place or none. No repository is in both halves.
func TestQuestions(t *testing.T) {
	testdata := filepath.Join("..", "..", "testdata")
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
	half := map[string]string{} // of a repository
	for name, repositories := range map[string]int{"fit": 5, "held": 12} {
		s, err := golden.Load(filepath.Join(testdata, "questions", name))
		if err != nil {
			t.Fatal(err)
		}
		unanswerable := 0
		for _, task := range s.Tasks {
			if !known[task.Repository] || task.Kind != golden.Where || task.Unanswerable == (len(task.Locations) > 0) {
				t.Errorf("%+v", task)
			}
			if other := half[task.Repository]; other != "" && other != name {
				t.Errorf("%s is in both halves", task.Repository)
			}
			half[task.Repository] = name
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
			t.Errorf("%s: %d questions, %d of them without an answer", name, len(s.Tasks), unanswerable)
		}
		if _, err := s.Split(""); err == nil {
			t.Error("no folder of the repositories is needed")
		}
		if suites, err := s.Split(t.TempDir()); err != nil || len(suites) != repositories || filepath.Base(suites[0].Workspace) != suites[0].Tasks[0].Repository {
			t.Errorf("%d suites, %v", len(suites), err)
		}
	}
}
