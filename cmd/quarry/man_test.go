package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command that help lists has a manual page with its flags, laid out as help is, and nothing
// in a page is taken for a request of man's.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"man", dir}, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatal(code, errs.String())
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	// The list of help is the test's own source of what there is.
	out.Reset()
	run(t.Context(), []string{"help"}, strings.NewReader(""), &out, &errs)
	_, list, _ := strings.Cut(out.String(), "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		name, short, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "help" {
			continue
		}
		page := read("quarry-" + name + ".1")
		for _, want := range []string{".SH NAME\nquarry\\-" + name + " \\- " + escaped(strings.TrimSpace(short)), ".SH SYNOPSIS\nquarry " + name, "\\fB\\-\\-json\\fP", ".SH EXIT STATUS"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page of %s lacks %q:\n%s", name, want, page)
			}
		}
		if !strings.Contains(read("quarry.1"), "\\fBquarry\\-"+name+"\\fP(1)") {
			t.Errorf("quarry(1) does not name %s", name)
		}
	}
	search := read("quarry-search.1")
	for _, want := range []string{"\nre:func \\ew+Error (up to", "\n  \"exact text\"  path:internal", "\\fB\\-k, \\-\\-results\\fP \\fIint\\fP"} {
		if !strings.Contains(search, want) {
			t.Errorf("the page of search lacks %q:\n%s", want, search)
		}
	}
	read("quarry-model-pull.1")
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		for line := range strings.Lines(read(filepath.Base(page))) {
			if request, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(line, ".") && !strings.Contains(".TH .SH .TP .nf .fi .br", request) {
				t.Errorf("%s has the request %q", filepath.Base(page), line)
			}
		}
	}
}

func escaped(s string) string { return strings.NewReplacer("-", `\-`, "'", `\(aq`).Replace(s) }
