package cite_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"quarry/agent"
	"quarry/agent/cite"
)

// files is a workspace of texts by name.
type files map[string]string

func (f files) Locate(_ context.Context, name string) (string, error) {
	name = strings.TrimPrefix(name, "./")
	if _, ok := f[name]; ok {
		return "/w/" + name, nil
	}
	return "", errors.New("no such file")
}
func (f files) Name(path string) string { return strings.TrimPrefix(path, "/w/") }
func (f files) Text(path string) (string, error) {
	return f[f.Name(path)], nil
}

func lines(n int) string { return strings.Repeat("x\n", n) }

var workspace = files{
	"main.go": lines(30), "lib/store.py": lines(12), "web/app.ts": "a\nb\nc", "app/[id]/page.tsx": lines(5), "Makefile": lines(9),
	"docs/größe.md": lines(3), "crlf.txt": "a\r\nb\r\n", "other/app.ts": lines(3), "secret.go": lines(3), "long.go": lines(50),
}

// shown are all lines of most files, and two pieces of one.
func shown() []agent.Citation {
	places := []agent.Citation{{Path: "long.go", StartLine: 10, EndLine: 14}, {Path: "long.go", StartLine: 40, EndLine: 40}}
	for _, name := range []string{"main.go", "lib/store.py", "web/app.ts", "app/[id]/page.tsx", "Makefile", "docs/größe.md", "crlf.txt", "other/app.ts"} {
		places = append(places, agent.Citation{Path: name, StartLine: 1, EndLine: 30})
	}
	return places
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		text, want, places string
		removed            int
	}{
		{"It opens in main.go:3-9.", "It opens in main.go:3-9.", "main.go:3-9", 0},
		{"It opens in `main.go:3`.", "It opens in `main.go:3-3`.", "main.go:3-3", 0},
		{"[./lib/store.py:1–12] and (main.go#L2-L4)", "[lib/store.py:1-12] and (main.go:2-4)", "lib/store.py:1-12 main.go:2-4", 0},
		{"store.py:L2-L3, twice: lib/store.py:2-3", "lib/store.py:2-3, twice: lib/store.py:2-3", "lib/store.py:2-3", 0},
		{"main.go:3:7 has a column", "main.go:3-3 has a column", "main.go:3-3", 0},
		{"see app/[id]/page.tsx:2-5", "see `app/[id]/page.tsx:2-5`", "app/[id]/page.tsx:2-5", 0},
		{"docs/größe.md:1-3, Makefile:9", "docs/größe.md:1-3, Makefile:9-9", "docs/größe.md:1-3 Makefile:9-9", 0},
		{"web/app.ts:3 is the last line", "web/app.ts:3-3 is the last line", "web/app.ts:3-3", 0},
		{"crlf.txt:2", "crlf.txt:2-2", "crlf.txt:2-2", 0},
		{"In `main.go` (lines 3-9), and main.go, line 4; lib/store.py lines 2 to 5.", "In main.go:3-9, and main.go:4-4; lib/store.py:2-5.", "main.go:3-9 main.go:4-4 lib/store.py:2-5", 0},
		{"gone.go, lines 3-9 holds it; the Makefile (line 2)", " holds it; the Makefile:2-2", "Makefile:2-2", 1},
		{"There are 3 lines, and online 4 of them; the file has lines 3-9.", "There are 3 lines, and online 4 of them; the file has lines 3-9.", "", 0},
		{"main.go:3‑9, main.go:3−4, main.go：5 and main.go, lines 2‒3", "main.go:3-9, main.go:3-4, main.go:5-5 and main.go:2-3", "main.go:3-9 main.go:3-4 main.go:5-5 main.go:2-3", 0},
		{"`main.go`:3-4, **main.go**:5, main.go:３～４, main.go∶6 and ma\u200bin.go:7..8", "main.go:3-4, main.go:5-5, main.go:3-4, main.go:6-6 and main.go:7-8", "main.go:3-4 main.go:5-5 main.go:6-6 main.go:7-8", 0},
		{"Lines 3-9 of `main.go` and line 4 in lib/store.py do.", "main.go:3-9 and lib/store.py:4-4 do.", "main.go:3-9 lib/store.py:4-4", 0},
		{"There are 3 lines in it, line 4 of the file, lines 5 to 6 of a.b", "There are 3 lines in it, line 4 of the file, lines 5 to 6 of a.b", "", 0},
		// Places that are none.
		{"`gone.go`:3, **gone.go**:4-5, gone.go:３-９, gone.go∶3, gone.go\u200b:3, main.go:3..99 and main.go:3~99", "", "", 7},
		{"gone.go, L3-L9, gone.go: 3-9, gone.go (3-9), gone.go(3-9), gone.go%3A3, gone.go%3a3-9 and gone.go § 3", "", "", 7},
		{"So main.go, L3-L9, main.go: 3-9, main.go (3-9), main.go%3A3 and main.go § 3.", "So main.go:3-9, main.go:3-9, main.go:3-9, main.go:3-3 and main.go:3-3.", "main.go:3-9 main.go:3-3", 0},
		{"m.go(3), f.c(x), v1.0 3-9, Node.js 18-20, Vue.js (2-3), gone.go 3-9, gone.go has 3-9 parts", "m.go(3), f.c(x), v1.0 3-9, Node.js 18-20, Vue.js (2-3), gone.go 3-9, gone.go has 3-9 parts", "", 0},
		{"gone.go at line 3, gone.go line: 3, gone.go ln 3-9, line 3 (gone.go), <gone.go:3>, gone.go:[3-9], gone.go:{3}, gone.go::3, gone.go:3,9, gone.go%23L3 and gone.go#L3C5-L9C1", "", "", 11},
		{"main.go at line 1 and <main.go#L1C2-L2C3>; app.init(3,9), std::3, f(a, 3), e.g. 3,9, the baseline 3 (main.go)", "main.go:1-1 and <main.go:1-2>; app.init(3,9), std::3, f(a, 3), e.g. 3,9, the baseline 3 (main.go)", "main.go:1-1 main.go:1-2", 0},
		{"So says line 3 of gone.go, and lines 3-9 in `lib/gone.py` do.", "So says, do.", "", 2},
		{"数量：3，共有：12-14 行", "数量：3，共有：12-14 行", "", 0},
		{"It opens in main.go:3‑99.", "It opens.", "", 1},
		{"It opens in main.go:3 and secret.pem:1 for more.", "It opens in main.go:3-3 for more.", "main.go:3-3", 1},
		{"It opens in main.go:3 and id_rsa:1 for more; see Server.PFX:2, id_ed25519#L1 and prod.tfvars, line 3.", "It opens in main.go:3-3 for more.", "main.go:3-3", 4},
		{"map[row.key:1 process.env:2 token:3 id:4 secret:5], rsa:2", "map[row.key:1 process.env:2 token:3 id:4 secret:5], rsa:2", "", 0},
		{"It opens (see gone.go：3−9).", "It opens.", "", 1},
		{"It opens in main.go:3-99.", "It opens.", "", 1},
		{"It opens (see gone.go:3-9).", "It opens.", "", 1},
		{"It opens [gone.go:1-2], then closes [main.go:1-2].", "It opens, then closes [main.go:1-2].", "main.go:1-2", 1},
		{"- The store is kept open, lib/gone.py:1-2", "- The store is kept open", "", 1},
		{"main.go:0, main.go:9-3", "", "", 2},
		{"(gone.go:1, main.go:1-2)", "(main.go:1-2)", "main.go:1-2", 1},
		{"(main.go:1-2, gone.go:1)", "(main.go:1-2)", "main.go:1-2", 1},
		{"at `gone.go:1` and `away.go:2`.", ".", "", 2},
		{"crlf.txt:3", "", "", 1},
		{"Call `f()` (gone.go:1) or g([], ( )), as gone.go:2 does.", "Call `f()` or g([], ( )) does.", "", 2},
		{"It opens (see also gone.go:3), then closes (per gone.go:4).", "It opens, then closes.", "", 2},
		{"func f() {} of gone.go:3", "func f() {}", "", 1},
		{"app.ts:1 is two files", " is two files", "", 1},
		{"secret.go:1-2 was not shown", " was not shown", "", 1},
		// A file of which only parts were shown.
		{"long.go:12, long.go:10-14, long.go:40", "long.go:12-12, long.go:10-14, long.go:40-40", "long.go:12-12 long.go:10-14 long.go:40-40", 0},
		{"long.go:1-10, long.go:14-20, long.go:1-50", "long.go:1-10, long.go:14-20, long.go:1-50", "long.go:1-10 long.go:14-20 long.go:1-50", 0},
		{"It opens (long.go:9) and closes (long.go:15-39).", "It opens and closes.", "", 2},
		{"long.go:41-50 is not shown, long.go:40-51 is not there", " is not shown is not there", "", 2},
		{"/etc/passwd:1-2 and ../up.go:1", "", "", 2},
		// Forged in other forms: addresses, files whose names begin with a dot, lines that
		// cannot be, drives, links.
		{"file:///etc/passwd:1-3 says so", " says so", "", 1},
		{"see file:/etc/passwd#L1-L3, https://evil.example/b.go:3-4 and vscode://file/w/main.go:1:2", "", "", 3},
		{"as .env:1-1 and .gitlab-ci.yml:2 show", " show", "", 2},
		{"main.go:-1--5, main.go:-3 and main.go:3--5", "", "", 3},
		{"at C:\\x\\b.go:3-4 and c:/x/b.go:1", "", "", 2},
		{"[main.go:3-4](http://evil.example/main.go:3-4) does", "main.go:3-4 does", "main.go:3-4", 1},
		{"[here](command:run) and [there](gone.go:3) and [main.go:3](main.go:3)", "here and there and main.go:3-3", "main.go:3-3", 1},
		{"[the docs](https://example.com/a), [me](mailto:a@example.com) and [it](https://example.com/x.go:3-4)", "the docs, me and it", "", 1}, // pages are no citations
		{"![p[q]](http://evil.example/x) and [a[b[c]]d](gone.go:3)", "!p[q] and a[b[c]]d", "", 1},
		// What is hidden is left for its reader to be shown, but in names.
		{"a\x00b, c\u200bd and ma\u200bin.go:1-2", "a\\x00b, c\u200bd and main.go:1-2", "main.go:1-2", 0},
		{"as http://[::1]/main.go:3, https://[fe80::1%25eth0]:8443/main.go:3-4, ftp://u:p@[::ffff:1.2.3.4]/x/main.go#L3, //[::1]/main.go:3 and //[::1]:80/main.go:3 say", " say", "", 5},
		{"the server at http://[::1]:8080/, as [main.go:3-4](http://[::1]/main.go:3-4) and app/[id]/page.tsx:2", "the server at http://[::1]:8080/, as main.go:3-4 and `app/[id]/page.tsx:2-2`", "main.go:3-4 app/[id]/page.tsx:2-2", 1},
		{"as //evil.example/b.go:3-4 and //evil.example:443/main.go:3-4 say", " say", "", 2},
		{"see (//evil/b.go:3) or `//evil.example/x/main.go:3`.", ".", "", 2},
		{"\\\\evil\\share\\main.go:3-4 says so, //lib/store.py:3 does", " says so, lib/store.py:3-3 does", "lib/store.py:3-3", 1},
		// What only looks like them.
		{"a server at //localhost:8080/x or //evil.example:443", "a server at //localhost:8080/x or //evil.example:443", "", 0},
		{"handlers[0](ctx) and a[i](b, c) at x:-1", "handlers[0](ctx) and a[i](b, c) at x:-1", "", 0},
		{"https://example.com:443/a is an address, so is http://[::1]:80", "https://example.com:443/a is an address, so is http://[::1]:80", "", 0},
		// What only looks like citations.
		{"at 12:30, ratio 16:9, http://localhost:8080/x, 127.0.0.1:11434, example.com:443", "at 12:30, ratio 16:9, http://localhost:8080/x, 127.0.0.1:11434, example.com:443", "", 0},
		{"std::vec and key:1", "std::vec and key:1", "", 0},
		{"nothing here", "nothing here", "", 0},
	} {
		got := cite.NewChecker(workspace, shown).Check(t.Context(), c.text)
		var places []string
		for _, p := range got.Citations {
			places = append(places, fmt.Sprintf("%s:%d-%d", p.Path, p.StartLine, p.EndLine))
		}
		if got.Text != c.want || strings.Join(places, " ") != c.places || got.Removed != c.removed {
			t.Errorf("%q:\n got %q, %v, %d removed\nwant %q, %s, %d removed", c.text, got.Text, places, got.Removed, c.want, c.places, c.removed)
		}
	}
}

// TestOddNames: a name that Markdown would read as something else, or that has a blank, is cited as
// code, and found in the forms that models write; what was checked stays as it is.
func TestOddNames(t *testing.T) {
	names := []string{"app/(shop)/[id]/page.tsx", "blog/[slug].ts", "[slug].ts", "pkg/__init__.py", "__main__.py", "__tests__/a.test.ts", "(group)/page@x.tsx",
		"src/routes/+page@home.ts", "$id.tsx", "a*b.ts", "*.ts", "_x_.go", "my docs/read me.ts", "me.ts", "R&D/a,b!.go", "~tmp~.go", "a]b.go"}
	files, seen := files{}, []agent.Citation{}
	for _, name := range names {
		files[name] = lines(5)
		seen = append(seen, agent.Citation{Path: name, StartLine: 1, EndLine: 5})
	}
	check := cite.NewChecker(files, func() []agent.Citation { return seen })
	for _, name := range names {
		want := "See `" + name + "` (`" + name + ":1-3`, " + strings.Trim(cite.Place(name, "2-2"), " ") + ")."
		if name == "me.ts" {
			want = "See `me.ts` (`me.ts:1-3`, me.ts:2-2)."
		}
		for _, text := range []string{
			"See `" + name + "` (`" + name + ":1-3`, " + name + ":2).",
			"See `" + name + "` (`" + name + ":L1-L3`, `" + name + "`:2).",
			"See `" + name + "` (`./" + name + "#L1-L3`, ./" + name + ":2).",
			want,
		} {
			got := check.Check(t.Context(), text)
			if got.Text != want || got.Removed != 0 || len(got.Citations) != 2 || got.Citations[0].Path != name {
				t.Errorf("%q:\n got %q, %v, %d removed\nwant %q", text, got.Text, got.Citations, got.Removed, want)
			}
		}
		if got := check.Check(t.Context(), "It is in "+name+":9."); got.Text != "It is." || got.Removed != 1 {
			t.Errorf("%s:9: got %q, %d removed", name, got.Text, got.Removed)
		}
	}
	for _, name := range []string{"a/b_c.go", "größe.md", "a+b.ts", "x/y-z%20.go", "a__b.py"} {
		if got := cite.Place(name, "1"); got != name+":1" {
			t.Errorf("%s is written %s", name, got)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"a/b.go:3": "{a/b.go 3 3}", "a b:c.go:3-9": "{a b:c.go 3 9}", "a.go": "", "a.go:": "", "a.go:0": "", "a.go:9-3": "", "a.go:3-x": "", ":3": "",
	} {
		got := ""
		if c, ok := cite.Parse(text); ok {
			got = fmt.Sprint(c)
		}
		if got != want {
			t.Errorf("Parse(%q) = %s, want %s", text, got, want)
		}
	}
}

// What was checked stays as it is.
func FuzzCheck(f *testing.F) {
	f.Add("It opens [gone.go:1-2], then closes [main.go:1-2] and (main.go#L1).")
	f.Add("\x00main.go:1")
	f.Fuzz(func(t *testing.T, text string) {
		once := cite.NewChecker(workspace, shown).Check(t.Context(), text)
		for _, c := range once.Citations {
			location := fmt.Sprintf("%s:%d-%d", c.Path, c.StartLine, c.EndLine)
			if !strings.Contains(once.Text, location) {
				t.Fatalf("%q: the text %q lacks its citation %s", text, once.Text, location)
			}
			body, ok := workspace[c.Path]
			if !ok || c.StartLine < 1 || c.EndLine < c.StartLine || c.EndLine > strings.Count(body, "\n")+1 {
				t.Fatalf("%q: %s does not stand", text, location)
			}
		}
	})
}
