package visible

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":                       "plain\ttext\n",
		"a\r\nb\r":                            "a\r\nb\\x0d",
		"\x1b]52;c;bHM=\a":                    `\x1b]52;c;bHM=\x07`,
		"\x1b]8;;http://x\x1b\\y":             `\x1b]8;;http://x\x1b\y`,
		"\x9b2J\x9d0;t\x9c":                   `\x9b2J\x9d0;t\x9c`,
		"\u009b2J":                            `\u009b2J`,
		"a\bb\x7f\x00":                        `a\x08b\x7f\x00`,
		"if \u202e\u2066x\u2069 \u200b":       `if \u202e\u2066x\u2069 \u200b`,
		"\ufeff\u00ad\u2060\u2028\u034f":      `\ufeff\u00ad\u2060\u2028\u034f`,
		"\U000e0041\U000e0100":                `\U000e0041\U000e0100`,
		"if a\ufe0f \ufe00x\ufe0f\ufe0f":      `if a\ufe0f \ufe00x\ufe0f\ufe0f`,
		"\u2800\u2800x\u2800":                 `\u2800\u2800x\u2800`,
		"☂\ufe0f\ufe0f é\ufe0f":               "☂\ufe0f" + `\ufe0f é\ufe0f`,
		"1\ufe0f\u20e3 a\ufe0f\u20e3 1\ufe0f": "1\ufe0f\u20e3 a" + `\ufe0f` + "\u20e3 1" + `\ufe0f`,
		"⠋\u2800\u2800⠙ ℹ\ufe0f ©\ufe0f ‼\ufe0f ⅀\ufe00 葛\ufe00 ᠠ\u180b":  "⠋\u2800\u2800⠙ ℹ\ufe0f ©\ufe0f ‼\ufe0f ⅀\ufe00 葛\ufe00 ᠠ\u180b",
		"\ufffe\uffff\ufdd0\U0001fffe\ufffc\U0001d159":                    `\ufffe\uffff\ufdd0\U0001fffe\ufffc\U0001d159`,
		"x\U00016fe4y\U0001107f \U00018b00\U00016fe4\U00011052\U0001107f": `x\U00016fe4y\U0001107f ` + "\U00018b00\U00016fe4\U00011052\U0001107f",
		"é 漢字 עברית عربى 👍🏽 ☂️ \u0600 \ufffd":                             "é 漢字 עברית عربى 👍🏽 ☂️ \u0600 \ufffd",
	} {
		if got := Text(text); got != want {
			t.Errorf("Text(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestJSONDecodesToTheSame(t *testing.T) {
	text := "a\x1b]52;\u009b\u202e\u2066\U000e0041\x7f \"é\"\n"
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	shown := JSON(string(raw))
	var back string
	if err := json.Unmarshal([]byte(shown), &back); err != nil || back != text {
		t.Errorf("%s decodes to %q, %v", shown, back, err)
	}
	if strings.ContainsFunc(shown, Hidden) {
		t.Errorf("%q hides something", shown)
	}
}

func TestAdded(t *testing.T) {
	for _, tt := range []struct {
		text, old string
		want      rune
	}{
		{"plain\ttext\r\n", "\r\n", 0},
		{"\r", "", '\r'},
		{"x // \u202e", "", '\u202e'},
		{"x // \u202e", "y\u202e", 0},
		{"\x1b", "\u202e", '\x1b'},
		{"\fpage", "", '\f'},
		{"\f\npage\r\n\f\r\n\f", "\r", 0},
		{"if x {\f\n", "", '\f'},
		{"\n \f\n", "", '\f'},
		{"x\fy", "a\fb", 0},
		{"👩\u200d💻 می\u200cخواهم क्\u200dष", "", 0},
		{"👩🏽\u200d💻 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 🏴\u200d☠\ufe0f 🏃🏽\u200d♀\ufe0f\u200d➡\ufe0f 👍🏽 1\ufe0f\u20e3 🇩🇪", "", 0},
		{"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f", "", 0},
		{"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0068\U000e007f", "", '\U000e0067'},
		{"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f\U000e0061", "", '\U000e0061'},
		{"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067", "", '\U000e0067'},
		{"x\U000e0067", "", '\U000e0067'},
		{"API\u200cها ه\u200d. کِ\u200cم അവന്\u200d ක්\u200dෂ র\u200c্য", "", 0},
		{"ជា\u200bភាសា ไทย\u200bไทย", "", 0},
		{"ជា\u200b;", "", '\u200b'},
		{"葛\U000e0100飾 ᠠ\u180eᠠ \U00013000\U00013431\U00013001", "", 0},
		{"a\U000e0100", "", '\U000e0100'},
		{"葛\U000e0100\U000e0101", "", '\U000e0101'},
		{"admin\u180e", "", '\u180e'},
		{"x\U00013431", "", '\U00013431'},
		{"пароль\u200d", "", '\u200d'},
		{"пар\u200dоль", "", '\u200d'},
		{"漢\u200d字", "", '\u200d'},
		{"é\u200cé", "", '\u200c'},
		{"ن\u200d\u200d", "", '\u200d'},
		{"ها\u200c\u200cها", "", '\u200c'},
		{"admin\ufffe", "", '\ufffe'},
		{"admin\U00016fe4", "", '\U00016fe4'},
		{"\U00018b00\U00016fe4", "", 0},
		{"admin\u200d", "", '\u200d'},
		{"ad\u200cmin", "", '\u200c'},
		{"é\u200d\u200dé", "", '\u200d'},
		{"👩\u200d", "", '\u200d'},
		{"admin\ufe0f", "", '\ufe0f'},
		{"\u2800return", "", '\u2800'},
		{"\"☂\ufe0f ⠋\u2800\"", "", 0},
		{"\U000e0041", "", '\U000e0041'},
	} {
		if got, ok := Added("", tt.text, "", tt.old); got != tt.want || ok != (tt.want != 0) {
			t.Errorf("Added(%q, %q) = %U, want %U", tt.text, tt.old, got, tt.want)
		}
	}
}

// What stands before a text and after it counts: a word goes on, a line does not begin.
func TestAddedBetweenOthers(t *testing.T) {
	for _, tt := range []struct {
		before, text, after string
		want                rune
	}{
		{"می", "\u200cخواهم", "", 0},
		{"می", "\u200c", "خواهم", 0},
		{"می", "\u200c", ")", '\u200c'},
		{strings.Repeat("م", 40) + "👩", "\u200d💻", "", 0},
		{"👩\u200d", "💻", "", 0},
		{"ad", "\u200d", "min", '\u200d'},
		{"☂", "\ufe0f", "", 0},
		{"x = 1", "\f", "\n", '\f'},
		{"x = 1\n", "\f", "\n", 0},
		{strings.Repeat("x", 64), "\f", "\n", '\f'},
	} {
		if got, ok := Added(tt.before, tt.text, tt.after); got != tt.want || ok != (tt.want != 0) {
			t.Errorf("Added(%q, %q, %q) = %U, want %U", tt.before, tt.text, tt.after, got, tt.want)
		}
	}
}

// Olds are read at the first character that is hidden, and never again: a change has a hundred
// thousand of them, its file megabytes.
func TestOldsAreReadOnce(t *testing.T) {
	o := In("plain", "a\u202eb")
	if _, ok := o.Added("", "plain as well", ""); ok || o.texts == nil {
		t.Errorf("read for nothing: %v", ok)
	}
	for _, text := range []string{strings.Repeat("\u202e", 1000), "\u202ex"} {
		if r, ok := o.Added("", text, ""); ok || o.texts != nil {
			t.Errorf("%U is new: %v, and %d texts are left to read", r, ok, len(o.texts))
		}
	}
	if r, ok := o.Added("", "\u202e\u2066", ""); !ok || r != '\u2066' {
		t.Errorf("%U, %v", r, ok)
	}
}

func TestAddedZeroByte(t *testing.T) {
	if r, ok := Added("", "x\x00", ""); r != 0 || !ok {
		t.Errorf("Added says %U, %v", r, ok)
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b[2J\u202e\x9b")
	f.Add("☂\ufe0f\ufe0f a\ufe0f1\ufe0f\u20e3 ⠋\u2800 \u2800\ufe00\xff\u2800")
	f.Fuzz(func(t *testing.T, text string) {
		got := Text(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(strings.ReplaceAll(got, "\r\n", "\n"), Hidden) {
			t.Errorf("Text(%q) = %q", text, got)
		}
		if again := Text(got); again != got {
			t.Errorf("Text(%q) = %q, then %q", text, got, again)
		}
	})
}
