package mask

import (
	"encoding/base64"
	"strings"
	"testing"
)

// basic is how a program or a log has a user and a token (RFC 7617), base64 between « and ».
func basic(plain string, padded bool) string {
	encoding := base64.StdEncoding
	if !padded {
		encoding = base64.RawStdEncoding
	}
	return encoding.EncodeToString([]byte(plain))
}

// A token that ends a text in base64 is masked with it, however many letters the last group has.
func TestTokensInBase64(t *testing.T) {
	r := chance()
	ghp := "ghp_" + drawn(r, alnum, 36)
	for _, token := range []string{ghp, "npm_" + drawn(r, alnum, 36), "hf_" + drawn(r, alnum, 34), "AIza" + drawn(r, word, 35), "glpat-" + drawn(r, word, 20), "AKIA2" + drawn(r, base32, 15)} {
		for _, user := range []string{"", "a:", "me:", "one:", "x-access-token:"} {
			for _, padded := range []bool{true, false} {
				for _, around := range [][2]string{
					{`H = {"Authorization": "Basic `, `"}`}, {"curl -H 'Authorization: Basic ", "' https://a.example\n"}, {"AUTH=", "\n"}, {`h(b64"`, `", "next")`}, {`{"a":"`, `","b":"aB3dE5fG7hI9jK1lM3nO5p"}`},
				} {
					value := basic(user+token, padded)
					text := around[0] + value + around[1]
					got := Text(text)
					if hidden := strings.Contains(got, strings.Repeat("x", len(strings.TrimRight(value, "="))-leadEncoded)); !hidden || !strings.HasPrefix(got, around[0]) || !strings.HasSuffix(got, around[1]) {
						t.Errorf("%s%s, padded %v, is shown as %q", user, token, padded, got)
					}
					check(t, text)
				}
			}
		}
	}
	escape := strings.NewReplacer("=", `\u003d`, "+", `\u002b`, "/", `\/`).Replace
	for name, text := range map[string]string{
		"escaped":           `"Basic ` + escape(basic("me:"+ghp, true)) + `"`,
		"in an address":     "?auth=" + strings.ReplaceAll(basic("a:"+ghp, true), "=", "%3D") + "&x=1",
		"beside another":    `["` + basic("a plain text without anything in it", true) + `", "` + basic("a:"+ghp, false) + `"]`,
		"beside one of its": `["` + basic("one:"+ghp, false) + `", "` + basic("me:hf_"+drawn(r, alnum, 34), false) + `"]`,
	} {
		got := Text(text)
		for _, secret := range []string{basic("me:"+ghp, false), basic("a:"+ghp, false), basic("one:"+ghp, false)} {
			if strings.Contains(text, secret[:20]) && strings.Contains(got, secret[:20]) {
				t.Errorf("%s: %s", name, got)
			}
		}
		check(t, text)
	}
	for _, text := range []string{ // nothing of it is a token
		`"Basic ` + basic("user:a long password of several words", true) + `"`, `"Basic ` + basic("me:ghp_abcdefghijklmnopqrstuvwxyz0123456789", true) + `"`,
		`"` + basic("the token glpat-your-personal-token", true) + `"`, "/usr/local/share/applications/org/example/desktop/files",
	} {
		if got := Text(text); got != text {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}
