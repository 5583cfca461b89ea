package mask

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// drawn is a value of n letters of a set, as an issuer draws it: this file holds
// none itself.
func drawn(r *rand.Rand, of *set, n int) string {
	var from []byte
	for c := range 256 {
		if of[c] {
			from = append(from, byte(c))
		}
	}
	b := make([]byte, n)
	for {
		for i := range b {
			b[i] = from[r.IntN(len(from))]
		}
		if random(string(b)) {
			return string(b)
		}
	}
}

var chance = func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// Every issuer's token is masked wherever code has one, and how it begins is left.
func TestTokens(t *testing.T) {
	r := chance()
	n := 0
	for _, kinds := range tokens {
		for _, k := range kinds {
			n++
			value := drawn(r, k.body, k.least)
			for _, around := range [][2]string{
				{`const token = "`, "\"\n"}, {"TOKEN=", "\n"}, {"https://", "@host/x"}, {`f("\n`, `")`}, {"", ""}, {"// é ", " 𝒳"}, {"token: ", "\r\n"}, {"{a:", "}"},
				{"?access_token%3D", "&x"}, {`"\u0022`, `\u0022"`}, {`'\x22`, `\x22'`},
			} {
				text := around[0] + k.prefix + value + around[1]
				if got, want := Text(text), around[0]+k.prefix+strings.Repeat("x", len(value))+around[1]; got != want {
					t.Errorf("%q is shown as %q", text, got)
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("%d kinds of tokens, fewer than there were", n)
	}
}

var (
	b64url    = base64.RawURLEncoding.EncodeToString
	webHeader = b64url([]byte(`{"alg":"ES256","typ":"JWT"}`))
)

func pemBody(r *rand.Rand) []string {
	plain := bytesOf(letters + digits + "+/")
	return []string{"MII" + drawn(r, plain, 61), drawn(r, plain, 64), drawn(r, plain, 22) + "=="}
}

// The values are what stands between « and ».
func TestValues(t *testing.T) {
	r := chance()
	b64, urlsafe := bytesOf(letters+digits+"+/"), word
	body := pemBody(r)
	marked := func(list []string) []string {
		var m []string
		for _, s := range list {
			m = append(m, "«"+s+"»")
		}
		return m
	}
	m := marked(body)
	begin, end := "-----BEGIN RSA "+keyLabel+"-----", "-----END RSA "+keyLabel+"-----"
	for name, text := range map[string]string{
		"Amazon's secret":       `aws_secret_access_key = "«` + drawn(r, b64, 36) + "aB3x" + `»"`,
		"in a constructor":      `new AWS({ secretAccessKey: '«` + drawn(r, b64, 36) + "aB3y" + `»' })`,
		"in the environment":    `export AWS_SECRET_ACCESS_KEY=«` + drawn(r, b64, 36) + "aB3z" + "»\n",
		"Azure's":               "AccountName=x;AccountKey=«" + drawn(r, b64, 82) + "aB3z==" + "»;EndpointSuffix=y",
		"WireGuard's":           "[Interface]\nPrivateKey = «" + drawn(r, b64, 39) + "aB3z=" + "»\nAddress = 10.0.0.1\n",
		"SendGrid's":            `key := "SG.«` + drawn(r, word, 22) + "." + drawn(r, word, 43) + `»"`,
		"Telegram's":            `bot("123456789:«AA` + drawn(r, word, 33) + `»")`,
		"a web token":           `Authorization: Bearer ` + webHeader + `.«` + b64url([]byte(`{"sub":"u-7f","iat":1750000000}`)) + "." + drawn(r, word, 43) + "»\n",
		"one in a string":       `t := "\n` + webHeader + `.«` + b64url([]byte(`{"role":"service"}`)) + "." + drawn(r, word, 86) + `»"`,
		"Vault's":               "hvs.«" + drawn(r, word, 95) + "»",
		"a web key":             `{"kty":"EC","crv":"P-256","x":"` + drawn(r, urlsafe, 43) + `","d":"«` + drawn(r, urlsafe, 40) + `aB3»"}`,
		"a key":                 begin + "\n" + strings.Join(m, "\n") + "\n" + end + "\n",
		"a key after words":     "// the key of the test server\nvar key = `" + begin + "\n" + strings.Join(m, "\n") + "\n" + end + "`\n",
		"a key in one line":     `key = "` + begin + `\n` + strings.Join(m, `\n`) + `\n` + end + `\n"`,
		"a key in YAML":         "key: |\n  " + begin + "\n  " + strings.Join(m, "\n  ") + "\n  " + end + "\n",
		"a key in a list":       `["` + begin + `", "` + strings.Join(m, `", "`) + `", "` + end + `"]`,
		"a key in parts":        `"` + begin + `\n" +` + "\n\t\"" + strings.Join(m, "\\n\" +\n\t\"") + `\n" +` + "\n\t\"" + end + `\n"`,
		"an encrypted key":      begin + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n" + strings.Join(m, "\n") + "\n" + end + "\n",
		"a key that breaks off": begin + "\n" + strings.Join(m[:2], "\n") + "\n",
		"a manifest":            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: YWRtaW4=\n  password: \"«aHVudGVyMg==»\"\n---\nkind: ConfigMap\ndata:\n  a: b\n",
		"its keys first":        "stringData:\n  apiToken: «hunter2»\n  host: db.example.com\n  secret: {{ .Values.b }}\n  key: $(SECRET)\nkind: Secret\n",
		"a manifest in a list":  "items:\n  - metadata:\n      name: x\n    kind: Secret\n    data:\n      tls.key: «YWJjZGVm»\n  - kind: Other\n    data:\n      key: YWJjZGVm\n",
		"a block":               "kind: Secret\nstringData:\n  password: |\n    «one line»\n    «other line»\ntype: Opaque\n",
	} {
		plain := strings.NewReplacer("«", "", "»", "").Replace(text)
		var want strings.Builder
		for rest := text; ; {
			before, after, ok := strings.Cut(rest, "«")
			want.WriteString(before)
			if !ok {
				break
			}
			value, more, _ := strings.Cut(after, "»")
			for i := range len(value) {
				if value[i] > ' ' {
					want.WriteByte('x')
				} else {
					want.WriteByte(value[i])
				}
			}
			rest = more
		}
		if got := Text(plain); got != want.String() {
			t.Errorf("%s:\n%s\nis shown as\n%s", name, plain, got)
		}
		check(t, plain)
	}
}

// A mask that hides ordinary code is a mistake.
func TestOrdinaryCode(t *testing.T) {
	for _, text := range []string{
		`id := "AKIAIOSFODNN7EXAMPLE"`, `aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY`, `"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"`,
		`"ghp_abcdefghijklmnopqrstuvwxyz0123456789"`, "sk-loading-indicator-wrapper-element-with-many-words", `sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709"`,
		`"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="`, "550e8400-e29b-41d4-a716-446655440000",
		`h1:IyCGG6FCMHBGQQXkNCPYRC6FUHYHJ0ND2DFUJ/5OY6A=`, "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
		"if strings.HasPrefix(line, \"-----BEGIN RSA " + keyLabel + "-----\") {\n\treturn parsePrivateKeyOfTheServer(line[someOffsetHere:])\n}\n// -----END RSA " + keyLabel + "-----",
		"-----BEGIN " + keyLabel + "-----\nfoo\n-----END " + keyLabel + "-----", "The line -----BEGIN " + keyLabel + "----- opens a private key of whatever kind there is in the file",
		"kind: SecretStore\ndata:\n  a: b\n", "kind: Secretary\n", "# kind: Secret\ndata:\n  a: b\n", "kind: ConfigMap\ndata:\n  password: x\n", "a := `kind: Secret\ndata:\n  key: value`, {\n\tnext: `x`", "kind: Secret\nstringData:\n  type: postgresql\n  host: database.example.com\n", "kind: Secret\nmetadata:\n  name: db-credentials\n",
		`password = "hunter2"`, `PrivateKey = loadPrivateKeyFromTheConfiguredFile(path)`, `type Peer struct { PrivateKey string; PresharedKey *wgtypes.Key }`,
		`AccountKey = os.Getenv("AZURE_STORAGE_ACCOUNT_KEY_OF_THE_DEPLOYMENT")`, `secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY`, `{"kty":"RSA","n":"` + drawn(chance(), word, 43) + `","e":"AQAB"}`,
		"npm_package_config_some_long_name_of_a_variable_here", "hf_hub_download_of_a_file_and_its_parts", "github_pat_is_the_prefix_of_fine_grained_tokens", "dapi", "SG.", "AA", "_-_", "",
		"def sk_test_PaymentIntentWithInvalidCard(client):", "whsec_webhookSignatureVerificationFails", `"glpat-your-personal-access-token-here"`,
		`"xoxb-your-slack-bot-token-from-the-app-settings-page"`, "sk-proj-my-project-name-with-a-long-kebab-case-name-2024", "sk_live_payments_are_refused_without_a_card",
		// Web tokens: everybody's example, without a signature or claims, whose parts are none, a picture.
		webHeader + "." + b64url([]byte(`{"sub":"1234567890","name":"John Doe"}`)) + "." + drawn(chance(), word, 43), webHeader + "." + b64url([]byte(`{"sub":"x"}`)) + ".", webHeader + "..", webHeader,
		webHeader + ".eyJhbGciOi." + drawn(chance(), word, 43), "eyJoidGVzdGluZ19zb21ldGhpbmc." + b64url([]byte(`{"a":1}`)) + "." + drawn(chance(), word, 43), b64url([]byte(`{"version":3,"file":"out.js"}`)),
		"eyJava.eyJavaScript." + strings.Repeat("longMethodNameOfSome", 3),
	} {
		if got := Text(text); got != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}

// goRoot is where Go's library is, which a binary built with -trimpath does not know.
func goRoot(t testing.TB) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// Go's own library has two million lines and no token; its tests have the keys of
// their servers.
func TestNoMaskInGosLibrary(t *testing.T) {
	root := filepath.Join(goRoot(t), "src")
	lines, masks := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines += bytes.Count(text, []byte("\n"))
		for _, s := range Spans(string(text)) {
			if !strings.Contains(string(text[max(0, s.Start-4000):s.Start]), "-----BEGIN ") {
				masks++
				t.Errorf("%s: %q", path, text[s.Start:s.End])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if lines < 500_000 {
		t.Skipf("only %d lines of Go's library are here", lines)
	}
	t.Logf("%d masks in %d lines", masks, lines)
}

// A change that a model proposes for what it saw masked keeps the values.
func TestRestore(t *testing.T) {
	r := chance()
	one, two := "ghp_"+drawn(r, alnum, 36), "ghp_"+drawn(r, alnum, 36)
	hide := func(s string) string { return Text(s) }
	text := "a(\"" + one + "\")\nb(\"" + two + "\")\n"
	for _, tt := range []struct{ name, with, want string }{
		{"the same", hide(text), text},
		{"a line more", "// log in\n" + hide(text), "// log in\n" + text},
		{"renamed", strings.ReplaceAll(hide(text), "a(", "login("), "login(\"" + one + "\")\nb(\"" + two + "\")\n"},
		{"taken away", "a(os.Getenv(\"TOKEN\"))\n", "a(os.Getenv(\"TOKEN\"))\n"},
		{"no mask", "xxxx", "xxxx"},
	} {
		if got := Restore(text, 0, len(text), tt.with); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	// Only the second line is replaced.
	at := strings.Index(text, "b(")
	if got, want := Restore(text, at, len(text), hide(text)[at:]), text[at:]; got != want {
		t.Errorf("the second line: %q, want %q", got, want)
	}
}

// check holds what is true of every text.
func check(t *testing.T, text string) {
	t.Helper()
	got := Text(text)
	switch {
	case len(got) != len(text):
		t.Fatalf("%q has another length than %q", got, text)
	case Text(got) != got:
		t.Fatalf("%q is masked again", got)
	case utf8.ValidString(text) && (!utf8.ValidString(got) || len(utf16.Encode([]rune(got))) != len(utf16.Encode([]rune(text)))):
		t.Fatalf("the columns of %q moved", text)
	}
	for i := range len(text) {
		if c := text[i]; got[i] != c && (c <= ' ' || c >= 0x7f || got[i] != 'x') {
			t.Fatalf("%q is shown as %q", text, got)
		}
	}
	end := 0
	for _, s := range Spans(text) {
		if s.Start < end || s.End <= s.Start || s.End > len(text) {
			t.Fatalf("%q: spans %v", text, Spans(text))
		}
		end = s.End
	}
	in := []byte(text)
	In(in)
	if string(in) != got {
		t.Fatalf("%q is %q in place", text, in)
	}
}

func FuzzText(f *testing.F) {
	r := chance()
	body := strings.Join(pemBody(r), "\\n")
	for _, seed := range []string{
		"ghp_" + drawn(r, alnum, 36), "-----BEGIN " + keyLabel + "-----\\n" + body + "\\n-----END", "kind: Secret\ndata:\n  key: bcdefgh\n  password: |\n    dcdefgh\n", "kind: Secret", "  kind: Secret\r\n  data:\r\n   keyé: \"xxxééé\n",
		`"kty" "d":"` + drawn(r, word, 43), "AccountKey=" + drawn(r, base64Set, 88), "\\", "SG." + drawn(r, word, 22) + "." + drawn(r, word, 43), webHeader + "." + b64url([]byte(`{"a":1}`)) + "." + drawn(r, word, 43), "kind: Secret\ndata:\n  a: ghp_" + drawn(r, alnum, 36),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, text) })
}

func BenchmarkText(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(goRoot(b), "src", "net", "http", "server.go"))
	if err != nil {
		b.Fatal(err)
	}
	s := string(text)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}
