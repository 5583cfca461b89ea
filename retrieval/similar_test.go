package retrieval

import (
	"strings"
	"testing"

	"quarry/index/syntax"
)

// Code that uses the same names is found, in other files and only in code.
func TestSimilar(t *testing.T) {
	const sending = "func %s(c *Client, m Message) error {\n\tpayload, err := m.Encode()\n\tif err != nil {\n\t\treturn fmt.Errorf(\"encode: %%w\", err)\n\t}\n\treturn c.transport.Send(payload)\n}\n"
	ix := New(Options{})
	put := func(path, text string) Change {
		f, err := syntax.Analyze(syntax.Detect(path, []byte(text)), []byte(text))
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
