package model

import (
	"fmt"
	"strings"
	"testing"
)

// What a server says about itself is shown as far as a line goes, whatever it is.
func TestWhatAServerSaysIsShort(t *testing.T) {
	long := strings.Repeat("é9", 50_000)
	for text, want := range map[string]int{"": 0, "0.17.4": 6, strings.Repeat("é", 200): 200, strings.Repeat("é", 201): 200, long: 200} {
		if got := short(text); len([]rune(got)) != want || !strings.HasPrefix(text, strings.TrimSuffix(got, "…")) {
			t.Errorf("%.20s of %d: %d characters", text, len([]rune(text)), len([]rune(got)))
		}
	}
	l := libraryOver(t, answersWith(map[string]string{
		"/api/version":  fmt.Sprintf(`{"version": %q}`, long),
		"/api/tags":     fmt.Sprintf(`{"models": [{"name": %q, "details": {"family": %q, "quantization_level": %q}}]}`, long, long, long),
		"/api/show":     fmt.Sprintf(`{"details": {"family": %q, "quantization_level": %q}}`, long, long),
		"/api/generate": fmt.Sprintf(`{"error": %q}`, long),
	}))
	version, err := l.version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := l.List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%d models, %v", len(list), err)
	}
	about, err := l.inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"version": version, "name": list[0].Name, "family": list[0].Family + about.family, "quantisation": list[0].Quant + about.quant,
		"error": l.load(t.Context()).Error(), "names": shortList(strings.Split(strings.Repeat(long+" ", 30), " ")),
	} {
		if n := len([]rune(text)); n < 200 || n > 20*202+len(", 11 others") {
			t.Errorf("%s has %d characters", what, n)
		}
	}
	endpoint, err := ParseEndpoint("", false)
	if err != nil {
		t.Fatal(err)
	}
	of := newOpenAI(Options{Model: "m"}, endpoint, newHTTPClient(endpoint))
	for _, err := range []error{
		of.status("v1/models", 500, []byte(fmt.Sprintf(`{"error": %q}`, long))), of.lacks([]openAIModel{{ID: long}, {ID: "b"}}),
		(&guard{model: "m"}).look(origin{Host: long}),
	} {
		if n := len([]rune(err.Error())); n > 500 {
			t.Errorf("an error has %d characters", n)
		}
	}
}
