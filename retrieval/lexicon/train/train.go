package train

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"quarry/retrieval/lexicon"
)

// dims is how many numbers a vector has. 256 gain nothing (bench/retrieval.md).
const dims = 128

// Repository is one that a table is learned from.
type Repository struct {
	GitHub  string `json:"github"` // owner/repository
	Commit  string `json:"commit"`
	Licence string `json:"licence"`
}

// Folder is the name of the repository's checkout.
func (r Repository) Folder() string {
	return filepath.Base(filepath.Dir(r.GitHub)) + "+" + filepath.Base(r.GitHub)
}

// ReadList reads a list of repositories.
func ReadList(path string) (list []Repository, err error) {
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read the repositories to learn from: %w", err)
	}
	return list, nil
}

// Learn makes a table of package lexicon from the checkouts of a list in a folder. tell
// is told how far it is.
func Learn(ctx context.Context, dir string, list []Repository, tell func(string)) ([]byte, error) {
	w := &words{ids: map[string]uint32{}}
	var all [][]pair
	for _, r := range list {
		pairs, err := read(ctx, w, filepath.Join(dir, r.Folder()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.GitHub, err)
		}
		tell(fmt.Sprintf("%s: %d pairs", r.GitHub, len(pairs)))
		all = append(all, pairs)
	}
	said := vocabularyOf(all, func(p pair) []uint32 { return p.said }, mostSaid)
	named := vocabularyOf(all, func(p pair) []uint32 { return p.named }, mostNamed)
	m := count(all, said, named)
	tell(fmt.Sprintf("%d words said, %d named, %d counts", len(said.words), len(named.words), m.size()))
	m.weigh()
	tell(fmt.Sprintf("%d of the counts are above chance", m.size()))
	left, right := factor(m, dims)
	total := 0.0
	for _, list := range all {
		total += math.Pow(float64(len(list)), damped)
	}
	side := func(v vocabulary, vectors dense) []lexicon.Word {
		vectors.normalise()
		out := make([]lexicon.Word, len(v.words))
		for i, word := range v.words {
			out[i] = lexicon.Word{Text: w.text[word], Rarity: float32(math.Log(1 + 10*total/v.seen[i])), Vector: vectors.row(i)}
		}
		return out
	}
	return lexicon.Encode(left.cols, side(said, left), side(named, right))
}

// normalise gives each row length 1; one of zeros stays.
func (d dense) normalise() {
	for i := range d.rows {
		sum := 0.0
		for _, x := range d.row(i) {
			sum += float64(x) * float64(x)
		}
		if sum > 0 {
			for k := range d.row(i) {
				d.row(i)[k] /= float32(math.Sqrt(sum))
			}
		}
	}
}
