package embedtext

import (
	"strings"
	"testing"

	"quarry/index/lang"
	"quarry/index/syntax"
)

func analyze(t *testing.T, path, text string) *syntax.File {
	t.Helper()
	f, err := syntax.Analyze(lang.Detect(path, []byte(text)), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const retry = "package queue\n\n// Next is the pause before the next try.\nfunc (r *Retrier) Next() int { return r.n }\n"

func TestText(t *testing.T) {
	f := analyze(t, "queue/retry.go", retry)
	got := Text("queue/retry.go", f, 0, retry)
	if !strings.HasPrefix(got, "queue/retry.go\n") || !strings.Contains(got, "Retrier.Next\n") || !strings.HasSuffix(got, "func (r *Retrier) Next() int { return r.n }") {
		t.Errorf("text is %q", got)
	}
	readme := "just words\n"
	if got := Text("README", analyze(t, "README", readme), 0, readme); got != "README\njust words" {
		t.Errorf("text without declarations is %q", got)
	}
}
