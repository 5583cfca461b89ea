package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// pasted is a Python stack of so many outer frames, in files of the shop and elsewhere, whose
// lines of code have words of the shop, too.
func pasted(outer int, last string) string {
	var b strings.Builder
	b.WriteString("ERROR: in the shop\nTraceback (most recent call last):\n")
	for i := range outer {
		file, code := fmt.Sprintf("/venv/site-packages/lib/layer%d.py", i), "return check_not_found_in_known_hosts(server, limits_of_width)"
		if i%4 == 0 {
			file, code = "/srv/host/known.py", "return could_not_get_the_size_of_the_image_see_the_documentation(x)"
		}
		fmt.Fprintf(&b, "  File \"%s\", line %d, in call\n    %s\n           ^^^^^^^^^^^^^^^^\n", file, i+1, code)
	}
	b.WriteString("  File \"/srv/app/size.py\", line 5, in size\n    size_of(image)\n" + last)
	return b.String()
}

// The innermost frame of a Python stack leads, however many frames stand before it and whatever
// their lines of code say: of a log with a prefix, of an exception that another one followed, and
// of one that is longer than what is read of a query.
func TestPythonStacksAsPasted(t *testing.T) {
	ix := shop()
	const message = "shop.Unsized: the picture has none\n"
	for name, stack := range map[string]string{
		"short":  pasted(3, message),
		"40":     pasted(40, message),
		"300":    pasted(300, message),
		"prefix": strings.ReplaceAll("\n"+pasted(30, message), "\n", "\nweb_1  | ")[1:],
		"two": "Traceback (most recent call last):\n  File \"/srv/host/client.py\", line 3, in check\n    raise Unknown\nUnknown: Server 'x' not found in known_hosts\n\n" +
			"During handling of the above exception, another exception occurred:\n\n" + pasted(30, message),
		"one line": strings.Join(strings.Fields(pasted(30, message)), " "),
	} {
		path, line, a := firstPlace(t, ix, stack)
		if path != "app/size.py" || line > 5 {
			t.Errorf("%s of %d bytes: found %s:%d of %v", name, len(stack), path, line, pathsOf(a))
		}
	}
}

// What is read of a stack is bounded, begins with what tells most, and the user is told what was
// left out.
func TestStacksAreRead(t *testing.T) {
	const message = "KeyError: 'the last'"
	for _, c := range []struct {
		name, raw string
		want      []string // in this order
		not       string
		cut       bool
	}{
		{"Python", "lang:py " + pasted(2, message), []string{"lang:py ERROR: in the shop", "size_of(image)", message, "File /srv/app/size.py, line 5", "layer1.py, line 2", "known.py, line 1"}, "return", false},
		{"a long one", pasted(900, message), []string{message, "size.py, line 5", "layer899.py, line 900"}, "layer1.py,", true},
		{"with a long message", pasted(10, message+strings.Repeat(" and more", 9000)), []string{message, "size.py, line 5"}, "", true},
		{"chained", "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nValueError: first\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"b.py\", line 2, in h\n    i()\nKeyError: second",
			[]string{"KeyError: second", "ValueError: first", "b.py, line 2", "a.py, line 1"}, "above exception", false},
		{"Java", "Exception in thread \"main\" a.Failed: outer\n" + strings.Repeat("\tat a.B.c(B.java:7)\n", 300) + "Caused by: a.Why: middle\n" + strings.Repeat("\tat a.D.e(D.java:8)\n", 300) + "Caused by: a.Root: inner\n\tat a.F.g(F.java:9)\n\t... 9 more\n",
			[]string{"a.Failed: outer", "a.Root: inner", "F.java:9", "a.Why: middle", "D.java:8", "B.java:7"}, "", true},
	} {
		text, cut, ok := readStack(c.raw, maxQuery)
		if !ok || len(text) > maxQuery || cut != c.cut {
			t.Errorf("%s: %d bytes, cut %t, %t", c.name, len(text), cut, ok)
		}
		at := 0
		for _, w := range c.want {
			i := strings.Index(text[at:], w)
			if i < 0 {
				t.Errorf("%s: no %q behind %d in:\n%s", c.name, w, at, text)
				break
			}
			at += i
		}
		if c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: %q is in:\n%s", c.name, c.not, text)
		}
		notes := Parse(c.raw, time.Time{}).Notes
		if slices.Contains(notes, "only the message and the innermost frames of the stack were read") != c.cut {
			t.Errorf("%s: notes %q", c.name, notes)
		}
		if clip := Clip(c.raw); len(clip) > maxQuery || len(c.raw) > maxQuery && !strings.Contains(clip, c.want[0]) {
			t.Errorf("%s is clipped to:\n%s", c.name, clip)
		}
	}
	for _, raw := range []string{`re:File "x.py", line 3`, "why is a file \"x\"\nnot found", "--> a.rs:3\n", "Caused by: x", `File "`} {
		if text, _, ok := readStack(raw, maxQuery); ok {
			t.Errorf("%q is read as the stack %q", raw, text)
		}
	}
}

// The frames of other languages name places, too: .NET's, PHP's, Perl's and those of bash.
func TestFramesOfOtherLanguages(t *testing.T) {
	ix := New(Options{})
	body := strings.Repeat("a b c\n", 30)
	ix.Apply(changesOf([]Document{document("src/Cart.cs", body), document("lib/cart.php", body), document("bin/cart.pl", body), document("tools/cart.sh", body), document("sbin/cart", body),
		document("src/other.cs", body), document("lib/other.rb", body)}))
	for query, want := range map[string]string{
		`System.Null: none ---> at Shop.Cart.Add(Int32 n) in C:\build\src\Cart.cs:line 12`: "src/Cart.cs",
		"at Shop.Cart.Add(Int32 n) in /build/src/Cart.cs:line 12":                          "src/Cart.cs",
		"PHP Warning:  Undefined variable in /var/www/lib/cart.php on line 12":             "lib/cart.php",
		"#0 /var/www/lib/cart.php(12): Cart->add()":                                        "lib/cart.php",
		"Can't locate object method at /opt/bin/cart.pl line 12.":                          "bin/cart.pl",
		"./tools/cart.sh: line 12: foo: command not found":                                 "tools/cart.sh",
		"/usr/sbin/cart: line 12: foo: command not found":                                  "sbin/cart",
	} {
		if got, _, a := firstPlace(t, ix, query); got != want || !slices.ContainsFunc(a.Results[0].Reasons, func(r string) bool { return strings.Contains(r, "stack") }) {
			t.Errorf("%s: found %v, want %s", query, pathsOf(a), want)
		}
	}
}

// The root cause of an exception in Java leads, and what only has words of the message comes
// behind the innermost frame.
func TestInnermostFrameLeads(t *testing.T) {
	ix := shop()
	for query, want := range map[string]string{
		"java.lang.Failed: could not get the size of the image\n\tat shop.Main.start(Main.java:7)\nCaused by: java.lang.Null: none\n\tat shop.Ledger.seal(Ledger.java:5)\n\tat shop.Main.start(Main.java:7)": "src/main/java/shop/Ledger.java",
		"panic: the size of the image (see the documentation\n\nmain.open()\n\t/src/stock/reader.go:8 +0x1\nmain.main()\n\t/src/main.go:9 +0x2":                                                              "stock/reader.go",
	} {
		if got, _, a := firstPlace(t, ix, query); got != want {
			t.Errorf("%s\nfound %v, want %s", query, pathsOf(a), want)
		}
	}
}
