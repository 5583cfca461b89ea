package overview

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A manifest of a megabyte is noted as far as anybody reads it: each need was compared with all
// before it, twenty seconds for an agent's first question.
func TestHugeManifests(t *testing.T) {
	const many = 4_000
	var lines []string
	group := map[string]string{}
	for i := range many {
		lines = append(lines, fmt.Sprintf("d%d = \"1\"", i))
		group[fmt.Sprintf("d%d", i)] = "1"
	}
	m := maker{Overview: &Overview{}, managers: map[string]string{}}
	m.need(kindOf("Cargo.toml"), "Cargo.toml", append([]string{"[dependencies]"}, lines...))
	raw, err := json.MarshalIndent(map[string]any{"dependencies": group, "bin": group, "scripts": group}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	m.script("package.json", string(raw), strings.Split(string(raw), "\n"))
	if len(m.Manifests) != 2 || len(m.Entries) != maxEntries {
		t.Fatalf("%d manifests, %d entries", len(m.Manifests), len(m.Entries))
	}
	for _, f := range m.Manifests {
		if len(f.Needs) != maxNeeds || f.Start == 0 || f.End < f.Start {
			t.Errorf("%v: %d needs", f.Place, len(f.Needs))
		}
	}
}
