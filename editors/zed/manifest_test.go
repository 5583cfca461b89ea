// Package zed_test holds the tests of the Zed extension.
package zed_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quarry/index/lang"
)

// unknownToZed are languages of quarry's that no extension of Zed's names.
var unknownToZed = []string{
	"awk", "bat", "ignore", "javascriptreact", "objective-cpp", "properties", "vb",
}

// TestLanguages: every language that quarry knows is listed, under a name that the server knows it by.
func TestLanguages(t *testing.T) {
	manifest, err := os.ReadFile("extension.toml")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(manifest), "languages = [")
	list, rest, ok := strings.Cut(rest, "]")
	if !ok {
		t.Fatal("there is no list of languages")
	}
	ids := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^"([^"]+)" = "([^"]+)"$`).FindAllStringSubmatch(rest, -1) {
		ids[m[1]] = m[2]
	}
	have := unknownToZed
	for _, m := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(list, -1) {
		id, named := ids[m[1]]
		if !named {
			id = strings.ToLower(m[1])
		}
		row, ok := lang.Find(id)
		if !ok {
			t.Errorf("quarry does not know %s, as Zed would call %s", id, m[1])
			continue
		}
		if named && row.ID != id {
			t.Errorf("%s is called %s, which quarry calls %s", m[1], id, row.ID)
		}
		delete(ids, m[1])
		have = append(have, row.ID)
	}
	for name := range ids {
		t.Errorf("%s has an id and is not listed", name)
	}
	for _, l := range lang.All() {
		if !slices.Contains(have, l.ID) {
			t.Errorf("%s is not listed", l.ID)
		}
	}
}
