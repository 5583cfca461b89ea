package token

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
	"unicode/utf8"
)

func terms(text string) string {
	var a Analyzer
	var out []string
	a.Terms(text, func(t []byte) { out = append(out, string(t)) })
	return strings.Join(out, " ")
}

func TestTerms(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"...---...", ""},
		{"HTTPServer.listenAll(routes)", "httpserver http server listenall listen all rout"},
		{"snake_case_name", "snakecasename snake case name"},
		{"__init__", "init"},
		{"SCREAMING_CASE", "screamingcase scream case"},
		{"kebab-case", "kebab case"},
		{"parseURL2Path", "parseurl2path pars url path"},
		{"OAuth2PasswordBearer", "oauth2passwordbearer oauth auth password bearer"},
		{"IPv6", "ipv6 ipv pv"},
		{"sha256sum", "sha256sum sha 256 sum"},
		{"TValue", "tvalue valu"},
		{"x = 1", "x 1"},
		{"getHTTPResponseCode", "gethttpresponsecode get http respons code"},
		{"Größe_ÄNDERN", "größeändern größe ändern"},
		{"取得する", "取得 得す する"},
		{"名 name", "名 name"},
		{"a\xffb\xfe", "a b"},
		{strings.Repeat("A", maxWord+1) + " ok", "ok"},
		{"shouldReturnNotFoundWhenTheRequestedAccountDoesNotExistInTheDatabase",
			"should return not found when the request account doe not exist in the databas"},
		{"CONFIG_ARCH_HAS_SOMETHING_VERY_LONG_THAT_A_KERNEL_WOULD_HAVE_IN_ITS_OPTIONS",
			"config arch ha someth veri long that kernel would have in it option"},
		{"test_größe_" + strings.Repeat("ändern_", 10) + "ok", "test größe" + strings.Repeat(" ändern", 10) + " ok"},
		{"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08e3b0c44298fc1c149afbf4c8996fb924 ok", "ok"},
		{"SGVyZSBpcyBhIGxvbmcgdGV4dCB0aGF0IGhhcyBiZWVuIHdyaXR0ZW4gaW4gYmFzZTY0IHRvIGJlIHNraXBwZWQ ok", "ok"},
		{strings.Repeat("word_", 60) + " ok", "ok"},
	} {
		if got := terms(c.text); got != c.want {
			t.Errorf("terms(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestAppendText(t *testing.T) {
	var a Analyzer
	if got := string(a.AppendText([]byte("x "), "readFile files")); got != "x readfile read file file " {
		t.Errorf("AppendText = %q", got)
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"parseURLPath", "parse url path"},
		{"_private_T2", "private t2"},
		{"oauth2Scope_V4", "oauth2 scope v4"},
		{"Foo::bar.baz", "foo bar baz"},
		{"test_get_returns_only_objects_that_belong_to_the_current_user_or_group", "test get returns only objects that belong to the current user or group"},
		{"蹑ԑ 取得Name", "蹑 ԑ 取得 name"},
		{"", ""},
	} {
		var a Analyzer
		if got := strings.Join(a.Words(nil, c.in), " "); got != c.want {
			t.Errorf("Words(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// The pairs are the examples of Porter's paper, step by step.
func TestStem(t *testing.T) {
	pairs := `caresses caress ponies poni ties ti caress caress cats cat feed feed agreed agre plastered plaster
bled bled motoring motor sing sing conflated conflat troubled troubl sized size hopping hop tanned tan falling fall
hissing hiss fizzed fizz failing fail filing file happy happi sky sky relational relat conditional condit rational ration
valenci valenc hesitanci hesit digitizer digit conformabli conform radicalli radic differentli differ vileli vile
analogousli analog vietnamization vietnam predication predic operator oper feudalism feudal decisiveness decis
hopefulness hope callousness callous formaliti formal sensitiviti sensit sensibiliti sensibl triplicate triplic
formative form formalize formal electriciti electr electrical electr hopeful hope goodness good revival reviv
allowance allow inference infer airliner airlin gyroscopic gyroscop adjustable adjust defensible defens irritant irrit
replacement replac adjustment adjust dependent depend adoption adopt homologou homolog communism commun activate activ
angulariti angular homologous homolog effective effect bowdlerize bowdler probate probat rate rate cease ceas
controll control roll roll generalizations gener oscillators oscil`
	f := strings.Fields(pairs)
	if len(f)%2 != 0 {
		t.Fatal("odd number of words")
	}
	var a Analyzer
	for i := 0; i < len(f); i += 2 {
		if got := a.Stem(f[i]); got != f[i+1] {
			t.Errorf("Stem(%q) = %q, want %q", f[i], got, f[i+1])
		}
	}
}

func FuzzTerms(f *testing.F) {
	f.Add("HTTPServer.listen_all(r) 取得 \xff É")
	f.Fuzz(func(t *testing.T, text string) {
		var a Analyzer
		a.Words(nil, text)
		var all []string
		a.Terms(text, func(term []byte) {
			if len(term) == 0 || strings.ContainsAny(string(term), " \t\n_") {
				t.Fatalf("term %q of %q", term, text)
			}
			if !utf8.Valid(term) {
				t.Fatalf("term %q of %q is not UTF-8", term, text)
			}
			all = append(all, string(term))
		})
		if got := string(a.AppendText(nil, text)); got != strings.Join(append(all, ""), " ") {
			t.Fatalf("AppendText %q differs from the terms %q", got, all)
		}
	})
}

func BenchmarkTerms(b *testing.B) {
	text := strings.Repeat("func (s *HTTPServer) ListenAndServe(addr string) error { // starts listening\n\treturn s.serve_all(addr, nil)\n}\n", 100)
	var a Analyzer
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		a.Terms(text, func([]byte) {})
	}
}

// TestAppendTextEqualsTerms holds the remembered form against the plain one.
func TestAppendTextEqualsTerms(t *testing.T) {
	var kept Analyzer
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.SampledFrom([]string{"readFile", "HTTPServer", "x", "_", "日本語", "a_b_c", "é", " ", ".", "v2", "running"})).Draw(t, "words")
		text := strings.Join(words, rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		var plain Analyzer
		var want []byte
		plain.Terms(text, func(term []byte) { want = append(append(want, term...), ' ') })
		for range 2 {
			if got := kept.AppendText(nil, text); string(got) != string(want) {
				t.Fatalf("%q: %q, want %q", text, got, want)
			}
		}
	})
}
