package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// shop is a small program in several languages that reports what goes wrong. Beside
// the places that say so stand others with the same words in another order.
func shop() *Index {
	ix := New(Options{})
	ix.Apply(changesOf([]Document{
		document("stock/reader.go", `package stock

import "fmt"

// Open opens the ledger.
func Open(path string) error { return nil }

func parse(path string, line int, verb string) error {
	return fmt.Errorf("malformed ledger %s: line %d has the unknown verb %q", path, line, verb)
}
`),
		document("docs/ledger.md", "# The ledger\n\nA verb that is unknown on a line of the ledger makes it malformed. Every verb has a line.\n"),
		document("app/size.py", `import logging


def size(image):
    logging.warning(
        "could not get the size of the image (see the documentation "
        "for what must be installed); limits of width may be violated"
    )


def other():
    return "size of image limits documentation width"
`),
		document("src/main/java/shop/Ledger.java", `package shop;

class Ledger {
    void seal(int days) {
        if (days < 0) {
            throw new IllegalStateException("Both a 'seal' and a 'stamp' were given. Choose either one.");
        }
    }
}
`),
		document("src/main/java/shop/Main.java", "package shop;\n\nclass Main {\n    static final String JOB = \"main\";\n\n    /** Either one of a seal and a stamp, both were given. */\n    void start() {\n    }\n}\n"),
		document("host/known.py", "\"\"\"The hosts: build, main and test.\"\"\"\n\nJOBS = ['\"build\"', \"build\", \"test\"]\n"),
		document("host/client.py", "def check(server):\n    if server not in known:\n        raise Unknown('Server {!r} not found in known_hosts'.format(server))\n    if not session:\n        raise Unknown('no existing session')\n"),
		document("app/index.js", "function start() {\n  return 1;\n}\n"),
		document("web/index.js", "function open() {\n  throw new Error(`Missing pagination size in ${name}`);\n}\n"),
		document("src/tree/build.rs", "pub fn trim() {\n    let n = None.unwrap();\n"+strings.Repeat("    n.push(1);\n", 200)+"}\n\npub fn build() {\n    trim();\n"+strings.Repeat("    n.push(2);\n", 200)+"}\n"),
	}))
	return ix
}

func firstPlace(t *testing.T, ix *Index, query string) (path string, line int, a Answer) {
	t.Helper()
	a, err := ix.Search(t.Context(), Request{Query: Parse(query, time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Results) == 0 {
		return "", 0, a
	}
	return a.Results[0].Path, a.Results[0].StartLine, a
}

// A message is found where the code says it: with values filled in, continued on the
// next line, with a level and a time before it, and with quoted values in it.
func TestPastedMessages(t *testing.T) {
	ix := shop()
	for query, want := range map[string]string{
		"error: malformed ledger /home/u/2026.txt: line 17 has the unknown verb \"skipped\"":                                        "stock/reader.go",
		"2026-11-22 10:00:01 [WARN] app.size: could not get the size of the image (see the documentation":                           "app/size.py",
		"WARNING: see the documentation for what must be installed":                                                                 "app/size.py",
		"Error: Missing pagination size in \"posts\"\n    at open (file:///srv/web/index.js:2:9)":                                   "web/index.js",
		"thread 'main' panicked at src/tree/build.rs:2:18: called `Option::unwrap()` on a `None` value":                             "src/tree/build.rs",
		"at shop::tree::build\n   at ./src/tree/build.rs:206:5\n  note: run with RUST_BACKTRACE=1":                                  "src/tree/build.rs",
		"Traceback (most recent call last):\n File \"/x/lib.py\", line 9, in f\n File \"/y/app/size.py\", line 5, in size\nOSError": "app/size.py",
	} {
		got, _, a := firstPlace(t, ix, query)
		if got != want {
			t.Errorf("%s\nfound %v, want %s first", query, pathsOf(a), want)
			continue
		}
		if !slices.ContainsFunc(a.Results[0].Reasons, func(r string) bool { return strings.Contains(r, "message") }) {
			t.Errorf("%s: reasons %q", query, a.Results[0].Reasons)
		}
	}
}

// The innermost frame that is of this repository is the place, whichever end of the
// stack it stands at.
func TestFramesOfAStack(t *testing.T) {
	ix := shop()
	for query, want := range map[string]int{
		"panicked\n 0: core at /rustc/lib.rs:9\n 1: trim at ./src/tree/build.rs:2:5\n 2: build at ./src/tree/build.rs:206:5": 1,
		"trace: build (src/tree/build.rs:206) then main (src/main.rs:3)":                                                     205,
	} {
		if path, line, a := firstPlace(t, ix, query); path != "src/tree/build.rs" || line != want {
			t.Errorf("%s\nfound %s:%d of %v, want line %d", query, path, line, pathsOf(a), want)
		}
	}
	// A name that several files have says nothing without its folder.
	if f, ok := (&search{ix: ix, snap: ix.Current()}).fileNamed("index.js"); ok {
		t.Errorf("index.js is taken for %s", ix.Current().file(f).path)
	}
	if f, ok := (&search{ix: ix, snap: ix.Current()}).fileNamed("/srv/app/index.js"); !ok || ix.Current().file(f).path != "app/index.js" {
		t.Error("app/index.js is not found")
	}
}

// A quoted text that no file has is a condition where it is all that is asked, and part
// of a message where there is more.
func TestQuotesInMessages(t *testing.T) {
	ix := shop()
	if _, _, a := firstPlace(t, ix, `"unknown verb nowhere"`); len(a.Results) != 0 || slices.Contains(a.Backend, BackendUnquoted) {
		t.Errorf("an exact search found %v by %q", pathsOf(a), a.Backend)
	}
	if _, _, a := firstPlace(t, ix, `"unknown verb nowhere" ledger`); len(a.Results) != 0 {
		t.Errorf("an exact search with a word found %v", pathsOf(a))
	}
	for query, why := range map[string]string{
		`malformed ledger: the unknown verb "skipped"`: BackendMessage,
		`ledger: malformed by a verb, "skipped"`:       BackendUnquoted,
	} {
		path, _, a := firstPlace(t, ix, query)
		if path != "stock/reader.go" && why == BackendMessage || len(a.Results) == 0 || !slices.Contains(a.Backend, why) {
			t.Errorf("%s: found %v by %q", query, pathsOf(a), a.Backend)
		}
	}
	path, _, a := firstPlace(t, ix, `where is the "unknown verb" of a line reported`)
	if path != "stock/reader.go" || slices.Contains(a.Backend, BackendUnquoted) || len(a.Results) != 1 {
		t.Errorf("a quote that a file has: found %v by %q", pathsOf(a), a.Backend)
	}
}

// What a message has in double quotes is part of it, also where that text stands somewhere.
func TestQuotedValuesOfMessages(t *testing.T) {
	ix := shop()
	for query, want := range map[string]string{
		"Exception in thread \"main\" java.lang.IllegalStateException: Both a 'seal' and a 'stamp' were given. Choose either one.":             "src/main/java/shop/Ledger.java",
		"Exception in thread \"main\" java.lang.NullPointerException\n\tat shop.Ledger.seal(Ledger.java:5)\n\tat shop.Main.start(Main.java:7)": "src/main/java/shop/Ledger.java",
		"2026-11-22 ERROR [main] o.s.Boot: thread \"main\": Both a 'seal' and a 'stamp' were given":                                            "src/main/java/shop/Ledger.java",
		"ssh.SSHException: Server \"build\" not found in known_hosts":                                                                          "host/client.py",
		"ERROR in job \"test\": No existing session":                                                                                           "host/client.py",
		"server \"build\" not found in known_hosts":                                                                                            "host/client.py",
		"error: malformed ledger \"build\": line 17 has the unknown verb \"test\"":                                                             "stock/reader.go",
	} {
		got, _, a := firstPlace(t, ix, query)
		if got != want || !slices.Contains(a.Backend, BackendMessage) {
			t.Errorf("%s\nfound %v by %q, want %s first", query, pathsOf(a), a.Backend, want)
		}
	}
}

// A quoted text is a condition where it is all, or all but a few words, or the rest is not
// said by the code.
func TestQuotedTextsAreConditions(t *testing.T) {
	ix := shop()
	for _, phrase := range []string{"build", "main", "unknown verb", "not found in known_hosts"} {
		for _, rest := range []string{"%s", "server %s", "%s not found", "host %s lang:python", "the server is told about %s by name", "where is %s not found in known hosts"} {
			query := strings.Replace(rest, "%s", `"`+phrase+`"`, 1)
			_, _, a := firstPlace(t, ix, query)
			if slices.Contains(a.Backend, BackendMessage) {
				t.Errorf("%s is taken for a message", query)
			}
			for _, r := range a.Results {
				if text := ix.Current().file(fileAt(t, ix, r.Path)).text; !strings.Contains(text, phrase) {
					t.Errorf("%s found %s, which does not have it", query, r.Path)
				}
			}
		}
	}
}

func fileAt(t *testing.T, ix *Index, path string) uint32 {
	t.Helper()
	f, ok := (&search{ix: ix, snap: ix.Current(), req: &Request{}}).fileNamed(path)
	if !ok {
		t.Fatalf("no %s", path)
	}
	return f
}

// Questions are no messages, even in words that stand in the code.
func TestQuestionsAreNoMessages(t *testing.T) {
	ix := shop()
	for _, query := range []string{
		"how is the size of the image limited", "ledger verb", "where must be installed what the documentation says", "Open",
	} {
		_, _, a := firstPlace(t, ix, query)
		for _, r := range a.Results {
			if slices.ContainsFunc(r.Reasons, func(s string) bool { return strings.Contains(s, "message") }) {
				t.Errorf("%s: %q", query, r.Reasons)
			}
		}
	}
}

// Of the files that a search finds only those are read that can have a message: none for a
// question in words that stand everywhere, one for the words of one line.
func TestFewFilesAreReadForMessages(t *testing.T) {
	texts, docs := map[string]string{}, []Document{}
	for i := range 40 {
		name := fmt.Sprintf("part%d.md", i)
		texts[name] = "# Ledger\n\nThe verb here. A size is in the image. Which line? Limits, ledger, of.\n"
		docs = append(docs, document(name, texts[name]))
	}
	texts["said.md"] = "# Said\n\nthe ledger limits the size of every image line\n"
	docs = append(docs, document("said.md", texts["said.md"]))
	var read []string
	ix := New(Options{Text: func(path string) (string, error) { read = append(read, path); return texts[path], nil }})
	ix.Apply(changesOf(docs))
	for query, want := range map[string][]string{
		"ledger verb limits for one image line":      nil,
		"ledger limits the size of every image line": {"said.md"},
	} {
		read = nil
		_, _, a := firstPlace(t, ix, query)
		if len(a.Results) < 10 || !slices.Equal(read, want) {
			t.Errorf("%s: %d results, read %q, want %q", query, len(a.Results), read, want)
		}
	}
}

// mayRun never leaves out what reading would find, whatever the words.
func TestMayRunAgreesWithReading(t *testing.T) {
	words := []string{"cannot", "Open", "the", "LEDGER", "line_17", "s3_bucket", "a", "x", "Größe", "İx", "parse", "http2", "of", "bad", "value", "%s", "\n", "-", "(", "verb"}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			parts := rapid.SliceOfN(rapid.SampledFrom(words), 1, 30).Draw(t, "words")
			return strings.Join(parts, rapid.SampledFrom([]string{" ", "  ", ": "}).Draw(t, "between"))
		})
		ix := New(Options{})
		ix.Apply(changesOf([]Document{document("a.md", text.Draw(t, "a")), document("b.go", "package b\n\n// "+text.Draw(t, "b"))}))
		sr := &search{ix: ix, snap: ix.Current(), req: &Request{Query: Query{Text: text.Draw(t, "query")}}}
		sr.query.class = ClassText
		m, ok := sr.asMessage()
		if !ok {
			return
		}
		for c := range uint32(sr.snap.chunks) {
			f := sr.snap.file(sr.snap.fileOfChunk(c))
			if !m.mayBeIn(f.trigrams) {
				continue
			}
			ch := &sr.snap.segments[0].chunks[c]
			score, long := m.runsIn(linesBetween(f.text, int(ch.startLine), int(ch.endLine)))
			if m.tells(score, long) && !sr.mayRun(&m, c, m.mayTell) {
				t.Errorf("%q tells, in %q", sr.req.Query.Text, f.text)
			}
			if score > 0 && !sr.mayRun(&m, c, m.mayScore) {
				t.Errorf("%q has runs in %q", sr.req.Query.Text, f.text)
			}
		}
	})
}

// What a runtime says of every error, the places of another machine, values in a message that is quoted
// as a whole, and the words test and benchmark in it are not what it is about.
func TestWhatMessagesAreNotAbout(t *testing.T) {
	docs := []Document{
		document("src/env.rs", "/// The environment variable to display a backtrace, note: run with it.\npub fn env() {}\n"),
		document("src/tree.rs", "pub fn grow() {\n    let n = None;\n    n.unwrap();\n}\n"),
		document("src/benchmark/mod.rs", "fn prepare() {\n    let said = \"The preparation of the boat ended with a leak\";\n}\n"),
		document("src/float.rs", "// A boat has its preparation, and may leak.\nfn float() {}\n"),
		document("src/unknown.rs", "fn answer() {\n    reply(format!(\"ERR unknown order '{}'\", name));\n}\n"),
		document("src/files.php", "<?php\nfunction drop($path) {\n    throw new RuntimeException('Could not sink '.$path);\n}\n"),
		document("docs/paths.md", "# Paths\n\nA path is foo/bar/baz.txt, and joe/app/foo/bar/baz.txt is one, too.\n"),
		document("lib/count.sh", "count() {\n  printf 'warning: rowed %s instead of expected %s tests\\n' \"$a\" \"$b\"\n}\n"),
	}
	for i := range 80 {
		docs = append(docs, document(fmt.Sprintf("test/count%d_test.sh", i), "count_test() {\n  expect 'warning: rowed 3 instead of expected 4 tests'\n}\n"))
	}
	ix := New(Options{})
	ix.Apply(changesOf(docs))
	for query, want := range map[string]string{
		"thread 'main' panicked at src/tree.rs:3:7:\ncalled `Option::unwrap()` on a `None` value\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace": "src/tree.rs",
		"Error: The preparation of the boat ended with a leak": "src/benchmark/mod.rs",
		`Error: "ERR unknown order 'row'"`:                     "src/unknown.rs",
		`"ERR unknown order 'row'"`:                            "src/unknown.rs",
		"Could not sink /home/joe/app/foo/bar/baz.txt: ":       "src/files.php",
		"Could not sink C:\\Users\\joe\\foo\\bar\\baz.txt":     "src/files.php",
		"warning: rowed 3 instead of expected 4 tests":         "lib/count.sh",
	} {
		if got, _, a := firstPlace(t, ix, query); got != want {
			t.Errorf("%s\nfound %v, want %s first", query, pathsOf(a)[:min(3, len(a.Results))], want)
		}
	}
	if _, _, a := firstPlace(t, ix, `"ERR unknown orders 'row'"`); len(a.Results) != 0 {
		t.Errorf("an exact text that no code says found %v", pathsOf(a))
	}
}
