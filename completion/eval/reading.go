package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"quarry/completion"
)

// ReadingReport is how the model-free engine does that reads the repository by itself, as a
// server has it: no other file is open, and nothing is known of the rest before.
type ReadingReport struct {
	Trees []ReadingScore `json:"trees"`
}

// ReadingScore is that of one repository.
type ReadingScore struct {
	Tree  string `json:"tree"`
	Holes int    `json:"holes"`
	// Alone are the holes that were right where each was the first thing that is asked for,
	// Session where one server is asked for all of them, one after the other.
	Alone   int `json:"alone"`
	Session int `json:"session"`
}

// Reading fills n holes of each repository, when the user asks for it.
func Reading(ctx context.Context, repositories []Repository, n int, seed uint64) (report ReadingReport, err error) {
	for _, r := range repositories {
		files := disk{}
		for _, d := range r.Documents {
			files[d.Path] = d.Text
		}
		holes := Holes(r, n, rand.New(rand.NewPCG(seed, 2)))
		score := ReadingScore{Tree: r.Name, Holes: len(holes)}
		session := completion.New(nil, completion.Options{Repository: completion.NewRepository(files)})
		defer session.Close()
		for _, h := range holes {
			h.Request.Open = nil
			alone := completion.New(nil, completion.Options{Repository: completion.NewRepository(files)})
			for _, by := range []struct {
				*completion.Engine
				right *int
			}{{alone, &score.Alone}, {session, &score.Session}} {
				o, err := fill(ctx, by.Engine, h, true)
				if err != nil {
					return report, fmt.Errorf("%s: %w", r.Name, err)
				}
				if o.right {
					*by.right++
				}
			}
			alone.Close()
		}
		report.Trees = append(report.Trees, score)
	}
	return report, nil
}

func (r ReadingReport) String() string {
	var b strings.Builder
	b.WriteString("| tree | holes | exact lines, each asked first | in one session |\n|---|---|---|---|\n")
	all := ReadingScore{Tree: "all"}
	for _, s := range r.Trees {
		all.Holes, all.Alone, all.Session = all.Holes+s.Holes, all.Alone+s.Alone, all.Session+s.Session
	}
	for _, s := range append(slices.Clone(r.Trees), all) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", s.Tree, s.Holes, s.Alone, s.Session)
	}
	return b.String()
}

// disk is the files of a repository by path.
type disk map[string]string

// Paths implements completion.Files.
func (d disk) Paths(string) ([]string, bool) {
	var list []string
	for path := range d {
		list = append(list, path)
	}
	slices.Sort(list)
	return list, true
}

// FileText implements completion.Files.
func (d disk) FileText(_, path string) (string, error) { return d[path], nil }

// Allows implements completion.Files.
func (d disk) Allows(string, string) bool { return true }
