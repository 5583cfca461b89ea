package passage

import (
	"strings"
	"testing"

	"quarry/index/syntax"
)

func analyze(t *testing.T, path, text string) *syntax.File {
	t.Helper()
	f, err := syntax.Analyze(syntax.Detect(path, []byte(text)), []byte(text))
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

// A key changes with the text and with nothing else.
func TestKey(t *testing.T) {
	key := func(path, text string) [16]byte { return Key(path, analyze(t, path, text), 0) }
	base := key("queue/retry.go", retry)
	if base != key("queue/retry.go", retry+"\n\n\n") {
		t.Error("lines after the chunk change its key")
	}
	for name, other := range map[string][16]byte{
		"another path": key("queue/again.go", retry),
		"other code":   key("queue/retry.go", strings.Replace(retry, "r.n", "r.m", 1)),
		"another name": key("queue/retry.go", strings.Replace(retry, "Next()", "Peek()", 1)),
	} {
		if other == base {
			t.Errorf("%s has the same key", name)
		}
	}
}
