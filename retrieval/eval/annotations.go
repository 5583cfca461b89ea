package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Repository is one entry of repos.json: a checkout and the part of it that is
// searched.
type Repository struct {
	Name     string `json:"name"`
	Language string `json:"language"`
	URL      string `json:"url,omitempty"`
	Revision string `json:"revision,omitempty"`
	// Root is the folder of the checkout that is indexed, "" for all of it.
	Root string `json:"benchmark_root"`
	// Module is a package in a registry that holds the same files, such as
	// "go:github.com/spf13/cobra@v1.9.1"; "" if there is none.
	Module string `json:"module,omitempty"`
}

// Question is one query with the places that answer it.
type Question struct {
	Query    string
	Category string
	// Held marks questions kept back from tuning.
	Held    bool
	Targets []Span
}

// ReadRepositories reads repos.json.
func ReadRepositories(path string) ([]Repository, error) {
	var repos []Repository
	if err := readJSON(path, &repos); err != nil {
		return nil, err
	}
	for i, r := range repos {
		if r.Name == "" || r.Name != filepath.Base(r.Name) {
			return nil, fmt.Errorf("read %s: entry %d: name %q is not a plain folder name", path, i, r.Name)
		}
		if r.Root != "" && !filepath.IsLocal(r.Root) {
			return nil, fmt.Errorf("read %s: %s: benchmark_root %q leaves the checkout", path, r.Name, r.Root)
		}
	}
	return repos, nil
}

// ReadQuestions reads NAME.json of an annotation folder.
func ReadQuestions(dir, name string) ([]Question, error) {
	path := filepath.Join(dir, name+".json")
	var raw []struct {
		Query     string   `json:"query"`
		Category  string   `json:"category"`
		Held      bool     `json:"held"`
		Relevant  []target `json:"relevant"`
		Secondary []target `json:"secondary"`
	}
	if err := readJSON(path, &raw); err != nil {
		return nil, err
	}
	out := make([]Question, 0, len(raw))
	for i, r := range raw {
		q := Question{Query: r.Query, Category: r.Category, Held: r.Held}
		for _, t := range append(r.Relevant, r.Secondary...) {
			q.Targets = append(q.Targets, Span(t))
		}
		if q.Query == "" || len(q.Targets) == 0 {
			return nil, fmt.Errorf("read %s: question %d has no query or no target", path, i)
		}
		out = append(out, q)
	}
	return out, nil
}

// target is a string (a file) or an object (a span of lines).
type target Span

func (t *target) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &t.Path)
	}
	if err := json.Unmarshal(b, (*Span)(t)); err != nil {
		return err
	}
	if t.Path == "" || t.EndLine < t.StartLine {
		return errors.New("a target needs a path and end_line >= start_line")
	}
	return nil
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read annotations: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read annotations %s: %w", path, err)
	}
	return nil
}
