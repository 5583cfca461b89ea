package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/completion"
)

// EngineShown is what each engine shows for a hole.
type EngineShown struct {
	Model    Shown `json:"model"`
	Local    Shown `json:"local"`
	Together Shown `json:"together"`
}

// Shown is what an engine shows, and how sure it is of it: 0 where that is not known.
type Shown struct {
	Got        string  `json:"got"`
	Right      bool    `json:"right"`
	Shown      bool    `json:"shown"`
	Confidence float64 `json:"confidence"`
	// Engine is the one whose text it is.
	Engine string `json:"engine"`
}

func shownOf(res completion.Result, got string, v Verdict) Shown {
	s := Shown{Got: got, Right: v.Line, Shown: v.Shown, Engine: res.Engine}
	if len(res.Items) > 0 {
		s.Confidence = res.Items[0].Confidence
	}
	return s
}

// fillBy has an engine fill the hole as a server has it, into s.
func (h *TypedHole) fillBy(ctx context.Context, a *Answers, e *completion.Engine, s *Shown) error {
	res, got, err := h.fill(ctx, a, e, Choice{})
	if err != nil {
		return err
	}
	v := h.Judge(got)
	v.Shown = len(res.Items) > 0
	*s = shownOf(res, got, v)
	return nil
}

// EngineRow is how an engine did on the holes of a half.
type EngineRow struct {
	Half   Half   `json:"half"`
	Engine string `json:"engine"`
	Holes  int    `json:"holes"`
	Shown  int    `json:"shown"`
	// Right are the holes where all that is shown is right, of those with something shown:
	// where a line is finished, nothing shown is right as well.
	Right      int `json:"right"`
	RightShown int `json:"right_shown"`
	// At is how many are shown of those that it is surest of, so many that of all shown the
	// share of Precisions is right.
	At []int `json:"shown_at_precision"`
}

// Precisions are those at which engines are compared by how much they show.
var Precisions = []float64{0.7, 0.8, 0.9}

func engineRows(fillings []Filling) []EngineRow {
	var rows []EngineRow
	for _, half := range []Half{Held, Fit} {
		for _, engine := range []struct {
			name string
			of   func(*EngineShown) Shown
		}{
			{"the model alone", func(e *EngineShown) Shown { return e.Model }},
			{"the model-free engine alone", func(e *EngineShown) Shown { return e.Local }},
			{"together", func(e *EngineShown) Shown { return e.Together }},
		} {
			var all []Shown
			for _, f := range fillings {
				if f.Half == half && f.Engines != nil {
					all = append(all, engine.of(f.Engines))
				}
			}
			if len(all) > 0 {
				rows = append(rows, engineRow(half, engine.name, all))
			}
		}
	}
	return rows
}

func engineRow(half Half, name string, all []Shown) EngineRow {
	row := EngineRow{Half: half, Engine: name, Holes: len(all), At: make([]int, len(Precisions))}
	slices.SortStableFunc(all, func(a, b Shown) int { return cmp.Compare(b.Confidence, a.Confidence) })
	for i, s := range all {
		if s.Right {
			row.Right++
		}
		if !s.Shown {
			continue
		}
		row.Shown++
		if s.Right {
			row.RightShown++
		}
		if i+1 < len(all) && all[i+1].Confidence == s.Confidence {
			continue // which of the equally sure comes first is chance
		}
		for n, precision := range Precisions {
			if float64(row.RightShown) >= precision*float64(row.Shown) {
				row.At[n] = row.Shown
			}
		}
	}
	return row
}

// enginesTable is the rows in Markdown.
func enginesTable(rows []EngineRow) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n| half | engine | n | lines | shown | right of them, % |")
	for _, p := range Precisions {
		fmt.Fprintf(&b, " shown where %.0f %% are right |", 100*p)
	}
	b.WriteString("\n|---|---|---|---|---|---|" + strings.Repeat("---|", len(Precisions)) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %.1f |", r.Half, r.Engine, r.Holes, r.Right, r.Shown, 100*float64(r.RightShown)/float64(max(r.Shown, 1)))
		for _, n := range r.At {
			fmt.Fprintf(&b, " %d |", n)
		}
		b.WriteString("\n")
	}
	return b.String()
}
