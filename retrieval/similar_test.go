package retrieval

import (
	"slices"
	"strings"
	"testing"

	"quarry/index/lang"
	"quarry/index/syntax"
)

// Code that uses the same names is found, in other files and only in code.
func TestSimilar(t *testing.T) {
	const sending = "func %s(c *Client, m Message) error {\n\tpayload, err := m.Encode()\n\tif err != nil {\n\t\treturn fmt.Errorf(\"encode: %%w\", err)\n\t}\n\treturn c.transport.Send(payload)\n}\n"
	ix := New(Options{})
	put := func(path, text string) Change {
		f, err := syntax.Analyze(lang.Detect(path, []byte(text)), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return Change{Path: path, Document: &Document{Path: path, Language: f.Language, Text: text, Syntax: f}}
	}
	ix.Apply([]Change{
		put("here.go", "package a\n\n"+strings.ReplaceAll(sending, "%s", "SendNow")),
		put("mail.go", "package a\n\n"+strings.ReplaceAll(sending, "%s", "SendMail")),
		put("sum.go", "package a\n\nfunc Sum(list []int) (n int) {\n\tfor _, v := range list {\n\t\tn += v\n\t}\n\treturn n\n}\n"),
		put("notes.md", "# Sending\n\nThe payload is encoded by the Message, and the transport of the Client sends it.\n"),
	})
	const asked = "payload, err := m.Encode()\nreturn c.transport."
	found := ix.Current().Similar(asked, "here.go", 3)
	if len(found) == 0 || found[0].Path != "mail.go" || found[0].StartLine > 4 || found[0].EndLine < 8 {
		t.Fatalf("found %+v", found)
	}
	for i, p := range found {
		if p.Path == "here.go" || p.Path == "notes.md" || p.Score <= 0 || p.Score > 1 || i > 0 && p.Score > found[i-1].Score {
			t.Errorf("found %+v", found)
		}
	}
	ix.Apply([]Change{{Path: "mail.go"}})
	for _, p := range ix.Current().Similar(asked, "here.go", 3) {
		if p.Path == "mail.go" {
			t.Error("a removed file is found")
		}
	}
	if found := ix.Current().Similar("zzz qqq", "", 3); len(found) != 0 {
		t.Errorf("unknown words found %+v", found)
	}
}

// Words and meaning each name what is alike; the code itself, other languages and
// prose are left out.
func TestFindSimilar(t *testing.T) {
	const (
		sum   = "func Sum(list []int) (n int) {\n\tfor _, v := range list {\n\t\tn += v\n\t}\n\treturn n\n}\n"
		total = "func Total(amounts []int) int {\n\tresult := 0\n\tfor i := 0; i < len(amounts); i++ {\n\t\tresult += amounts[i]\n\t}\n\treturn result\n}\n"
		words = "func Join(list []string) (n string) {\n\tfor _, v := range list {\n\t\tn += v\n\t}\n\treturn n\n}\n"
	)
	docs := []Document{
		document("sum.go", "package a\n\n"+sum), document("total.go", "package a\n\n"+total), document("join.go", "package a\n\n"+words),
		document("sum.py", "def total(amounts):\n    return sum(amounts)\n"), document("sum.md", "# Sum\n\nThe list is summed, n and v for range list.\n"),
	}
	ix := New(Options{})
	ix.Apply(changesOf(docs))
	m := means(docs, []string{"func Sum", "func Total", "def total", "func Join", "# Sum"}, 1, .9, .8, .1, .95)
	req := SimilarRequest{Code: sum, Path: "sum.go", StartLine: 3, EndLine: 8}
	check := func(name string, req SimilarRequest, first string, backend ...string) {
		t.Helper()
		a := ix.Current().FindSimilar(req)
		if len(a.Results) == 0 || a.Results[0].Path != first || !slices.Equal(a.Backend, backend) {
			t.Errorf("%s: %+v by %q, want %s first by %q", name, a.Results, a.Backend, first, backend)
		}
		for i, r := range a.Results {
			if r.Path == "sum.go" || r.Path == "sum.md" || r.Score < 0 || r.Score > 1 || i > 0 && r.Score > a.Results[i-1].Score || len(r.Reasons) == 0 {
				t.Errorf("%s: result %+v", name, r)
			}
		}
	}
	check("by words", req, "join.go", "lexical")
	req.Semantic = m
	req.Filter.Languages = []string{"python"}
	check("of a language", req, "sum.py", "lexical", BackendVectors)
	req.Filter = Filter{NotPaths: []string{"join"}}
	check("by meaning too", req, "total.go", "lexical", BackendVectors)
	if a := ix.Current().FindSimilar(SimilarRequest{Code: "zzz qqq"}); len(a.Results) != 0 {
		t.Errorf("like nothing: %+v", a.Results)
	}
	if a := ix.Current().FindSimilar(SimilarRequest{Code: sum, Limit: 2, Semantic: m}); len(a.Results) != 2 || a.Results[0].Path != "sum.go" || a.Results[0].Symbol != "Sum" || a.Results[0].Score != 1 || a.Total < 3 {
		t.Errorf("code from nowhere: %+v of %d", a.Results, a.Total)
	}
}
