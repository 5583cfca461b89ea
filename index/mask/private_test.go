package mask

import (
	"encoding/base64"
	hexadecimal "encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

// A form is how a private key is written: its lines, and which of them are its body.
type form struct {
	name        string
	lines       []string
	first, last int // of the body's lines
}

// wrapped is text in lines of width letters.
func wrapped(text string, width int) (lines []string) {
	for len(text) > width {
		lines, text = append(lines, text[:width]), text[width:]
	}
	return append(lines, text)
}

// drawnDER is a key of n bytes that begins with head, in hexadecimal digits, and goes on by chance.
func drawnDER(r *rand.Rand, head string, n int) string {
	b, err := hexadecimal.DecodeString(head)
	if err != nil {
		panic(err)
	}
	for len(b) < n {
		b = append(b, byte(r.Uint32()))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// ders are keys by how they begin and how many bytes they have.
var ders = []struct {
	label, head string
	size        int
}{
	{"RSA ", "308204a30201000282010100", 1191}, {"RSA ", "3082025c02010002818100", 608}, {"DSA ", "308201bb02010002818100", 447}, {"EC ", "30770201010420", 121}, {"EC ", "3081a40201010430", 167}, {"EC ", "3081dc0201010442", 223},
	{"", "308204be020100300d06092a864886f70d010101050004820", 1218}, {"", "308187020100301306072a8648ce3d020106082a8648ce3d030107", 138}, {"", "3081b6020100301006072a8648ce3d020106052b81040022", 185}, {"", "302e020100300506032b657004220420", 48},
	{"ENCRYPTED ", "3082053530 5f06092a864886f70d01050d", 1337}, {"ENCRYPTED ", "3081ec305706092a864886f70d01050d", 239},
}

func forms(r *rand.Rand) (list []form) {
	add := func(name string, before, body, after []string) {
		list = append(list, form{name, append(append(append([]string{}, before...), body...), after...), len(before), len(before) + len(body)})
	}
	drawnText := func(n int) string { return drawn(r, bytesOf(letters+digits+"+/"), n-1) + "=" }
	for _, d := range ders {
		head := strings.ReplaceAll(d.head, " ", "")
		body := wrapped(drawnDER(r, head[:len(head)/2*2], d.size), 64)
		add(fmt.Sprintf("%sPEM of %d bytes", d.label, d.size), []string{"-----BEGIN " + d.label + keyLabel + "-----"}, body, []string{"-----END " + d.label + keyLabel + "-----"})
	}
	add("encrypted PEM of old", []string{"-----BEGIN RSA " + keyLabel + "-----", "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-256-CBC,0123456789ABCDEF0123456789ABCDEF", ""}, wrapped(drawnText(1192), 64), []string{"-----END RSA " + keyLabel + "-----"})
	add("OpenSSH", []string{"-----BEGIN OPENSSH " + keyLabel + "-----"}, wrapped("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW"+drawnText(280), 70), []string{"-----END OPENSSH " + keyLabel + "-----"})
	add("OpenPGP", []string{"-----BEGIN PGP " + keyLabel + " BLOCK-----", "Version: GnuPG v2.0.22 (GNU/Linux)", "", "lQOYBGh1" + drawn(r, alnum, 56)}, wrapped(drawnText(900), 64), []string{"=aB3d", "-----END PGP " + keyLabel + " BLOCK-----"})
	add("SSH2", []string{"---- BEGIN SSH2 ENCRYPTED " + keyLabel + " ----", `Comment: "rsa-key of a server"`}, wrapped(drawnText(640), 70), []string{"---- END SSH2 ENCRYPTED " + keyLabel + " ----"})
	add("PuTTY", []string{"PuTTY-User-Key-File-3: ssh-rsa", "Encryption: none", "Comment: a key", "Private-Lines: 6"}, wrapped(drawnText(384), 64), []string{"Private-MAC: " + drawn(r, bytesOf(digits+"abcdef"), 64)})
	add("OpenVPN", []string{"-----BEGIN OpenVPN Static key V1-----"}, wrapped(drawn(r, bytesOf(digits+"abcdef"), 512), 32), []string{"-----END OpenVPN Static key V1-----"})
	return list
}

// A written is a text with the letters in it that are of a key's body.
type written struct {
	text   string
	secret []bool
}

// write joins a form's lines, each between before and after.
func (f form) write(before, after string) written {
	var b strings.Builder
	var w written
	put := func(s string, secret bool) {
		b.WriteString(s)
		for range len(s) {
			w.secret = append(w.secret, secret)
		}
	}
	for i, line := range f.lines {
		put(before, false)
		put(line, i >= f.first && i < f.last)
		put(after, false)
	}
	w.text = b.String()
	return w
}

// with is the text with something typed at i.
func (w written) with(i int, typed string) written {
	secret := append([]bool{}, w.secret[:i]...)
	for range len(typed) {
		secret = append(secret, false)
	}
	return written{w.text[:i] + typed + w.text[i:], append(secret, w.secret[i:]...)}
}

// leastShown is how many letters of a body may be seen, of which a line has 64: those beside what
// was typed into one.
const leastShown = 24

// held fails if more of a key's body is shown.
func (w written) held(t *testing.T, name string) {
	t.Helper()
	check(t, w.text)
	shown := 0
	got := Text(w.text)
	for i := range len(w.text) {
		if w.secret[i] && got[i] == w.text[i] && got[i] != 'x' {
			shown++
		}
	}
	if shown >= leastShown {
		t.Errorf("%s: %d letters of the key are shown:\n%s\nas\n%s", name, shown, w.text, got)
	}
}

// oddLines may come between two lines of a key.
var oddLines = []string{
	"// half", "...", "x", "", "    ", "=======", "<<<<<<< HEAD", "-----", "}", "func main() {", "and this is the second half of it, which I have from the other machine:",
	"2026-11-23T17:22:33.123Z INFO worker[12] parsed 3 of 4 parts in 12ms id=4bf92f3577b34da6a3ce929d0e0e4736", strings.Repeat("what was meant to be somewhere else entirely. ", 10),
}

// beside are what each line of a key may stand between.
var beside = [][2]string{
	{"", "\n"}, {"", "\r\n"}, {"+", "\n"}, {"-", "\n"}, {" ", "\n"}, {"> ", "\n"}, {"// ", "\n"}, {"//", "\n"}, {"# ", "\n"}, {" * ", "\n"}, {"-- ", "\n"}, {"REM ", "\r\n"}, {"    12\t", "\n"}, {"12: ", "\n"}, {"| ", " |\n"}, {"", "<br>\n"}, {"", " \\\n"},
	{"2026-11-23T17:22:33.123Z INFO server[12]: the line is ", "\n"}, {"Nov 23 17:22:33 host-7f8d9c6b5-x2x4z app: key ", "\n"}, {"key of the server: ", "\n"}, {"out(\"", "\\n\");\n"}, {"  \"", "\\n\" +\n"}, {"'", "',\n"}, {"\"", "\\n\"\n"}, {"key += \"", "\\n\";\n"},
	{"fmt.Fprintln(w, `", "`)\n"}, {"", "\\n"}, {"", "\\r\\n"}, {"", "\\\\n"}, {"", "%0A"}, {"", "%0D%0A"}, {"", "%250A"}, {"", "\\u000a"}, {"", "&#10;"}, {"", " "}, {"line=", "\n"}, {"<p>", "</p>\n"}, {"{\"msg\":\"", "\"}\n"},
}

// Whatever stands around a key's lines or comes between them, no more than a part of a line is
// shown; nor where one of the lines around it is missing.
func TestPrivateKeysWithOddLines(t *testing.T) {
	r := chance()
	n := 0
	for _, f := range forms(r) {
		for _, b := range beside {
			n++
			f.write(b[0], b[1]).held(t, fmt.Sprintf("%s between %q and %q", f.name, b[0], b[1]))
		}
		for _, missing := range []string{"", "begin", "end"} {
			part := f
			switch {
			case missing == "begin":
				part.lines = f.lines[f.first:]
				part.last, part.first = f.last-f.first, 0
			case missing == "end":
				part.lines = f.lines[:f.last]
			}
			if missing != "" && len(strings.Join(part.lines[part.first:part.last], "")) < 2*leastOpen && f.last-f.first == 1 {
				continue // a line alone is looked at below
			}
			for at := 0; at <= len(part.lines); at++ {
				for _, odd := range oddLines {
					n++
					before, after := part, part
					before.lines, after.lines = part.lines[:at], part.lines[at:]
					before.last = min(part.last, at)
					after.first, after.last = part.first-at, part.last-at
					one, two := before.write("", "\n"), after.write("", "\n")
					var w written
					w.text = one.text + odd + "\n" + two.text
					w.secret = append(append(append([]bool{}, one.secret...), make([]bool, len(odd)+1)...), two.secret...)
					w.held(t, fmt.Sprintf("%s, line %d, without its %s, %q", f.name, at, missing, odd))
				}
			}
		}
	}
	t.Logf("%d texts", n)
}

// A letter typed anywhere in a key, its first and last line too, shows no more.
func TestPrivateKeysWithOddLetters(t *testing.T) {
	r := chance()
	n := 0
	for _, f := range forms(r) {
		for _, w := range []written{f.write("", "\n"), f.write("", "\\n"), f.write("// ", "\n")} {
			for _, typed := range []string{"x", "Q", ".", " ", "\"", "\n", "é", "=", "/", "%", "\\", "<"} {
				step := 1 + len(w.text)/30
				for i := r.IntN(step); i <= len(w.text); i += step {
					n++
					w.with(i, typed).held(t, fmt.Sprintf("%s, %q at %d", f.name, typed, i))
				}
			}
		}
	}
	t.Logf("%d texts", n)
}

// Keys without the lines around them are known by how they begin, those in base64 once more by what
// they say, and those whose bytes are escaped as others are.
func TestPrivateKeysAlone(t *testing.T) {
	r := chance()
	for _, d := range ders {
		head := strings.ReplaceAll(d.head, " ", "")
		key := drawnDER(r, head[:len(head)/2*2], d.size)
		for _, around := range [][2]string{{"rsa.private-key=", "\n"}, {`{"privateKey":"`, `"}`}, {"", ""}, {"key: ", "\npublic: MIIBIjANBgkqhkiG9w0BAQEFAAOC\n"}, {`const k = "`, `";`}, {"+", "\n"}} {
			if d.size == 48 && around[0] == "" {
				continue // it is one line, and stands for itself below
			}
			text := around[0] + key + around[1]
			w := written{text, make([]bool, len(text))}
			for i := range len(key) {
				w.secret[len(around[0])+i] = true
			}
			w.held(t, "alone "+d.label+d.head)
		}
		pem := "-----BEGIN " + d.label + keyLabel + "-----\n" + strings.Join(wrapped(key, 64), "\n") + "\n-----END " + d.label + keyLabel + "-----\n"
		for name, form := range map[string]string{
			"a kubeconfig": "users:\n- name: admin\n  user:\n    client-certificate-data: " + base64.StdEncoding.EncodeToString([]byte(certificate(r))) + "\n    client-key-data: «" + base64.StdEncoding.EncodeToString([]byte(pem)) + "»\n",
			"in lines":     "key: |\n  «" + strings.Join(wrapped(base64.StdEncoding.EncodeToString([]byte(pem)), 76), "\n  ") + "»\n",
			"in strings":   "String key =\n    \"«" + strings.Join(wrapped(base64.StdEncoding.EncodeToString([]byte(pem)), 76), "\" +\n    \"") + "»\";\n",
			"in bytes":     fmt.Sprintf("key = \"«%x»\"\n", pem),
			"dumped":       "«" + strings.Join(wrapped(fmt.Sprintf("%X", pem), 60), "\n") + "»\n",
			"twice":        "KUBECONFIG_BASE64=«" + base64.StdEncoding.EncodeToString([]byte("client-key-data: "+base64.StdEncoding.EncodeToString([]byte(pem))+"\n")) + "»\n",
			"in JSON":      `{"k":"` + strings.ReplaceAll(strings.ReplaceAll(strings.Replace(strings.Replace(pem, key[:64], "«"+key[:64], 1), key[len(key)-4:], key[len(key)-4:]+"»", 1), "\n", `\n`), "/", `\/`) + `"}`,
			"in a query":   "k=" + strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(strings.Replace(pem, key[:64], "«"+key[:64], 1)+"»"), "%C2%AB", "«"), "%C2%BB", "»"),
		} {
			before, rest, _ := strings.Cut(form, "«")
			secret, after, _ := strings.Cut(rest, "»")
			text := before + secret + after
			got := Text(text)
			shown := 0
			for i := len(before) + 64; i < len(before)+len(secret)-48; i++ { // the lines around the body may be
				if got[i] == text[i] && got[i] != 'x' && base64Plain[got[i]] && !strings.Contains(text[max(0, i-2):i], "%") {
					shown++
				}
			}
			if shown >= leastShown+24 {
				t.Errorf("%s of %s%s: %d letters are shown of\n%s\nin\n%s", name, d.label, d.head, shown, text, got)
			}
			if i := strings.Index(text, "client-certificate-data"); i >= 0 && got[:len(before)] != text[:len(before)] {
				t.Errorf("%s: the certificate is masked in\n%s", name, got)
			}
		}
	}
	body := pemBody(r)
	var grouped []string
	for _, line := range []string{"MIIE" + drawn(r, alnum, 60), drawn(r, alnum, 64)} {
		grouped = append(grouped, "«"+strings.Join(wrapped(line, 8), "» «")+"»")
	}
	for name, text := range map[string]string{
		"short":    "'-----BEGIN " + keyLabel + "-----\\n' +\n'«" + strings.Join(body[:2], "»\\n' +\n'«") + "»\\n' +\n'«OQ==»\\n' +\n'-----END " + keyLabel + "-----\\n'\n",
		"a seed":   "-----BEGIN " + keyLabel + "-----\n«MDQCAQAwCwYJYIZIAWUDBAMRBCKAIGCqGSKAgcAgYEBAQEBqGSIAwDBBgYKZaBkA»\n«xItjQrHI»\n-----END " + keyLabel + "-----\n",
		"groups":   "-----BEGIN RSA " + keyLabel + "-----\n" + strings.Join(grouped, "\n") + "\n-----END RSA " + keyLabel + "-----\n",
		"small":    "-----begin rsa private key-----\n«" + strings.Join(body, "»\n«") + "»\n-----end rsa private key-----\n",
		"prose":    "-——BEGIN RSA " + keyLabel + "——\n«" + strings.Join(body, "»\n«") + "»\n——END RSA " + keyLabel + "——\n",
		"table":    "| `-----BEGIN RSA " + keyLabel + "-----` | the first |\n| `«" + strings.Join(body, "»` | the line |\n| `«") + "»` | the last |\n| `-----END RSA " + keyLabel + "-----` | |\n",
		"a shell":  "echo -----BEGIN RSA " + keyLabel + "----- > k\necho «" + strings.Join(body, "» >> k\necho «") + "» >> k\necho -----END RSA " + keyLabel + "----- >> k\n",
		"XML":      "<RSAKeyValue><Modulus>" + drawn(r, alnum, 172) + "</Modulus><Exponent>AQAB</Exponent><P>«" + drawn(r, alnum, 86) + "»</P><D>«" + drawn(r, alnum, 172) + "»</D></RSAKeyValue>",
		"printed":  "Private-Key: (2048 bit, 2 primes)\nmodulus:\n    00:b1:92:d3:44:15:66\nprivateExponent:\n    «00:b1:92:d3:44:15:66:77:98:b9:a1:c2:d3:e4:f5»:\n    «16:27:38:49:5a:6b:7c:8d:9e:af:b0:c1:d2:e3:f4»\nprime1:\n    «00:b1:92:d3:44:15:66:77:98:b9:a1:c2:d3:e4:f5»\n",
		"Sidekiq":  "BUNDLE_GEMS__CONTRIBSYS__COM=«1f2e3d4c:5b6a7988»\nsource \"https://«1f2e3d4c:5b6a7988»@gems.contribsys.com/\"\nbundle config --local enterprise.contribsys.com «1f2e3d4c:5b6a7988»\n",
		"header":   "-----BEGIN RSA " + keyLabel + "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,3E1714DE130BC5E81327F36564B05462\n\n«" + drawn(r, alnum, 64) + "»\n-----END RSA " + keyLabel + "-----\n",
		"its own":  "BUNDLE_GEMS__CONTRIBSYS__COM=cafebabe:deadbeef\n",
		"minisign": "untrusted comment: minisign encrypted secret key\n«RWRTY0Iy" + drawn(r, alnum, 203) + "=»\n",
		"PKCS #12": "CERTIFICATE_P12=«MIIKPAIBAzCC" + drawn(r, alnum, 1200) + "»\n",
	} {
		var want strings.Builder
		for k, part := range strings.FieldsFunc(text, func(c rune) bool { return c == '«' || c == '»' }) {
			if k%2 == 1 {
				part = shown(part)
			}
			want.WriteString(part)
		}
		if got := Text(strings.NewReplacer("«", "", "»", "").Replace(text)); got != want.String() {
			t.Errorf("%s:\n%s\nis shown as\n%s", name, text, got)
		}
	}
}

// certificate is PEM that everybody may see.
func certificate(r *rand.Rand) string {
	return "-----BEGIN CERTIFICATE-----\n" + strings.Join(wrapped(drawnDER(r, "308203a23082028aa003020102021100", 934), 64), "\n") + "\n-----END CERTIFICATE-----\n"
}

// Lines that close or open something else, two of a kind, end no key; nor do signs between groups
// of its letters.
func TestPrivateKeysBetweenOtherMarkers(t *testing.T) {
	for _, f := range forms(chance()) {
		for _, dash := range []string{"&#45;", "&#x2d;", `\u002d`, `\x2d`} {
			g := f
			g.lines = append([]string{}, f.lines...)
			for i := range g.lines {
				if i < g.first || i >= g.last {
					g.lines[i] = strings.ReplaceAll(g.lines[i], "-", dash)
				}
			}
			if f.name == "OpenPGP" || f.name == "OpenVPN" || f.name == "SSH2" {
				g.write("", "\n").held(t, f.name+" with "+dash)
			}
		}
		for _, odd := range []string{"--- end of page 1 ---\n--- begin of page 2 ---", "-- begin transaction\n-- end transaction", "----- END PAGE 1 -----\n----- BEGIN PAGE 2 -----", "-----BEGIN ", "-----END OF"} {
			half := (f.first + f.last) / 2
			var w written
			put := func(s string, secret bool) {
				w.text += s
				for range len(s) {
					w.secret = append(w.secret, secret)
				}
			}
			for i, line := range f.lines {
				if i == half || i == half+1 {
					put(odd+"\n", false)
				}
				put(line, i >= f.first && i < f.last)
				put("\n", false)
			}
			w.held(t, fmt.Sprintf("%s with two of %q", f.name, odd))
		}
	}
	r := chance()
	key := "MIIEpAIB" + drawn(r, alnum, 184)
	for _, between := range []string{"  ", ", ", `", "`, "\t", "\n", "-", ".", " | ", "' '"} {
		text := "-----BEGIN RSA " + keyLabel + "-----\n| " + strings.Join(wrapped(key, 8), between) + "\n-----END RSA " + keyLabel + "-----\n"
		for _, part := range wrapped(key, 8) {
			if strings.Contains(Text(text), part) {
				t.Errorf("with %q between its groups %s is shown of\n%s", between, part, text)
				break
			}
		}
	}
}

// What is public stays, beside a private key too, and so does code between its markers.
func TestPublicKeysAreShown(t *testing.T) {
	r := chance()
	cert := certificate(r)
	spki := drawnDER(r, "30820122300d06092a864886f70d010101050003", 294)
	public := "-----BEGIN PUBLIC KEY-----\n" + strings.Join(wrapped(spki, 64), "\n") + "\n-----END PUBLIC KEY-----\n"
	ssh := "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ" + drawn(r, alnum, 340) + " user@host\n"
	pgp := "-----BEGIN PGP SIGNATURE-----\n\n" + strings.Join(wrapped("iQIzBAEB"+drawn(r, alnum, 300), 64), "\n") + "\n=aB3d\n-----END PGP SIGNATURE-----\n"
	key := forms(r)[0].write("", "\n").text
	for name, shown := range map[string]string{
		"a certificate": cert, "a public key": public, "a key of ssh": ssh, "a signature": pgp, "one line": "public_key=" + spki + "\n", "in a string": `"` + strings.ReplaceAll(cert, "\n", `\n`) + `"`,
		"of a kubeconfig": "certificate-authority-data: " + base64.StdEncoding.EncodeToString([]byte(cert)) + "\n",
		"code":            "block, _ := pem.Decode(raw)\nif block.Type == \"" + keyLabel + "\" {\n\tkey, err := x509.ParsePKCS8PrivateKey(block.Bytes)\n}\n\tTestParsePKCS8PrivateKeyWithRSAAndECDSAKeys2Times(t)\n",
		"a checksum":      "integrity sha512-" + drawn(r, bytesOf(letters+digits+"+/"), 86) + "==\n",
		"a picture":       "![](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ" + drawn(r, alnum, 400) + ")\n",
		"lines of data":   strings.Join(wrapped(drawn(r, bytesOf(letters+digits+"+/"), 640), 64), "\n") + "\n",
	} {
		for where, text := range map[string][2]string{"alone": {"", ""}, "before": {"", key}, "behind": {key, ""}, "between": {key, key}} {
			if name == "lines of data" && where != "alone" && where != "behind" {
				continue // what has no name and stands at a key may be of it
			}
			whole := text[0] + shown + text[1]
			got := Text(whole)
			if got[len(text[0]):len(text[0])+len(shown)] != shown {
				t.Errorf("%s %s: masked in\n%s", name, where, got)
			}
		}
	}
	for _, code := range []string{
		"const begin = \"-----BEGIN RSA " + keyLabel + "-----\"\n\nfunc parse(s string) (*rsa.PrivateKey, error) {\n\tsum := sha256.Sum256(s)\n\tif base64.StdEncoding.EncodeToString(sum[:]) != \"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\" {\n",
		"// It begins with -----BEGIN RSA " + keyLabel + "-----; see TestParsePKCS8PrivateKeyWithRSAAndECDSAKeys and x509.MarshalPKCS1PrivateKeyForTheServer2.\n",
		"SELECT a FROM b -- END OF " + keyLabel + " BLOCK\n", "the PRIVATE KEY----- of a server", "IBAAKC IBAD MIIEpAIBAAKCAQEA", "\"MIIEpAIBAAKCAQEA...\"", "b3BlbnNzaC1rZXktdjE", "if strings.HasPrefix(s, \"b3BlbnNzaC1rZXktdjEAAAA\") {",
	} {
		if got := Text(code); got != code {
			t.Errorf("%q is shown as %q", code, got)
		}
	}
}

// Code between the markers of a program that writes or reads keys is none, whatever its names look like.
func TestCodeBetweenMarkersIsShown(t *testing.T) {
	r := chance()
	hash := drawn(r, bytesOf(letters+digits+"+/"), 43) + "="
	for _, code := range []string{
		"func TestParsePKCS8PrivateKeyWithRSAAndECDSAKeys2Times(t *testing.T) {\n\tu, err := x509.ParsePKCS8PrivateKeyOrPKCS1(der)\n\tif err != nil {\n\t\treturn nil, fmt.Errorf(\"parse: %w\", err)\n\t}\n",
		"const want = \"" + hash + "\"\n\nfunc sum(key []byte) string {\n\th := sha256.Sum256(key)\n\treturn base64.StdEncoding.EncodeToString(h[:])\n}\n",
		"var table = []uint16{\n\t0x00A1, 0x41B2, 0x20C3, 0x41D4, 0x21E5, 0x41F6, 0x22A7, 0x41B8,\n\t0x23A1, 0x41C2, 0x24D3, 0x41E4, 0x25F5, 0x41A6, 0x26B7, 0x41C8,\n}\n",
		"\tzip64ExtraID = 0x0001 // see http://mdfs.net/Docs/Comp/Archiving/Zip/ExtraField\n\tOpAMD64VPSUBQMasked512Merging, OpSaturateToInt16ConcatInt32x4Masked = 1, 2\n\tcsFCur, testUint8x16ConvertToInt64AndUint32x4 := cut(s), Int64x2ConvertToInt8x16Saturated(s)\n",
		"  .replace(/\\s+/g, '').match(/.{1,64}/g).join('\\n');\n  const u8 = Uint8Array.from(atob(b64), (c) => c.charCodeAt(0));\n  return crypto.subtle.importKey('pkcs8', u8, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, true, ['sign']);\n",
		"    static final String SHA512_BASE64 = \"" + drawn(r, bytesOf(letters+digits+"+/"), 86) + "==\";\n    byte[] bytes = Base64.getMimeDecoder().decode(text);\n    return KeyFactory.getInstance(\"RSA\").generatePrivate(new PKCS8EncodedKeySpec(bytes));\n",
	} {
		for _, around := range [][2]string{
			{"const begin = \"-----BEGIN RSA " + keyLabel + "-----\"\n", "const end = \"-----END RSA " + keyLabel + "-----\"\n"},
			{"    if text.startswith('-----BEGIN " + keyLabel + "-----'):\n", "        assert '-----END " + keyLabel + "-----' in text\n"},
			{"out.println(\"-----BEGIN PGP " + keyLabel + " BLOCK-----\\n\");\n", ""},
			{"", "s = s.replace(\"-----END OPENSSH " + keyLabel + "-----\", \"\")\n"},
		} {
			text := around[0] + strings.Repeat(code, 3) + around[1]
			if got := Text(text); got != text {
				t.Errorf("%s\nis shown as\n%s", text, got)
			}
			key := forms(r)[0].write("", "\n")
			if got := Text(text + key.text); !strings.HasPrefix(got, text) {
				t.Errorf("%s\nis shown before a key as\n%s", text, got)
			}
		}
	}
}

// What stands around the words of a marker may be stars, other signs, too few or too many dashes, or
// nothing.
func TestPrivateKeysWithOddMarkers(t *testing.T) {
	n := 0
	for _, f := range forms(chance()) {
		for _, signs := range []string{"", "*", "**", "*****", "-", "--", "---", "----", "------", "---------------", "- - - - - ", "=", "=====", "#", "### ", "~~~~~", "+++++", "_____", ">>>>>", ":::::", ".....", "|", "[", "-*-", "· · ·", "*****-----"} {
			g := f
			g.lines = append([]string{}, f.lines...)
			for i, line := range f.lines {
				if i < f.first || i >= f.last {
					for _, old := range []string{"-----", "----"} {
						line = strings.ReplaceAll(line, old, signs)
					}
					g.lines[i] = line
				}
			}
			for _, around := range [][2]string{{"", "\n"}, {"", "\\n"}, {"// ", "\n"}, {"KEY = \"", "\" +\n"}, {"", " "}, {"> ", "\r\n"}, {"", "%0A"}} {
				n++
				g.write(around[0], around[1]).held(t, fmt.Sprintf("%s with %q between %q", f.name, signs, around))
			}
		}
	}
	t.Logf("%d texts", n)
}

// Words beside each line hide neither a body in one line nor one in narrow lines.
func TestPrivateKeysBesideWords(t *testing.T) {
	n := 0
	for _, f := range forms(chance()) {
		for _, width := range []int{20, 24, 32, 48, 76, 1 << 16} {
			if strings.HasSuffix(f.name, " 48 bytes") && width < 32 {
				continue // three lines among words
			}
			g := f
			g.lines = append(append([]string{}, f.lines[:f.first]...), wrapped(strings.Join(f.lines[f.first:f.last], ""), width)...)
			g.last = len(g.lines)
			g.lines = append(g.lines, f.lines[f.last:]...)
			for _, around := range [][2]string{
				{"", "\n"}, {"\"", "\",1,2,3\n"}, {"  12 | ", "\n"}, {"        sb.append(\"", "\").append(System.lineSeparator());\n"}, {"  out << \"", "\" << std::endl;\n"}, {"key = key + \"", "\" + Environment.NewLine + _\n"}, {"printf '%s\\n' '", "' >> key.pem\n"},
				{"^1a2b3c4d (Ann Example 2024-01-01 12:00:00 +0000  12) ", "\n"}, {"  line12: \"", "\"\n"}, {"<line value=\"", "\"/>\n"}, {"\tif err := appendLineOfTheKeyToBuffer(buffer, \"", "\"); err != nil {\n\t\treturn fmt.Errorf(\"line of the private key: %w\", err)\n\t}\n"},
			} {
				n++
				g.write(around[0], around[1]).held(t, fmt.Sprintf("%s in lines of %d between %q", f.name, width, around))
			}
		}
	}
	t.Logf("%d texts", n)
}

// Prose of a page between two lines, other blocks, short lines and long comments show no more of a
// key either.
func TestPrivateKeysFarApart(t *testing.T) {
	r := chance()
	prose := strings.Repeat("what the team wrote down of it at that time, and why it did. ", 21)[:1234]
	cert := certificate(r) + "\n" + certificate(r)
	put := func(w *written, s string, secret bool) {
		w.text += s + "\n"
		for range len(s) {
			w.secret = append(w.secret, secret)
		}
		w.secret = append(w.secret, false)
	}
	n := 0
	for _, f := range forms(r) {
		if f.last-f.first < 2 || !strings.Contains(f.name, "PEM") {
			continue
		}
		for _, missing := range []string{"", "begin", "end"} {
			for at := f.first; at <= f.last; at++ {
				for _, odd := range []string{prose, cert} {
					if odd == cert && (missing != "" || at == f.first || at == f.last) {
						continue
					}
					if missing != "" && (at == f.first || at == f.last || len(f.lines[f.last-1]) < 60 && at == f.last-1 && missing == "begin") {
						continue
					}
					if missing == "end" && at == f.last-1 && f.name == "encrypted PEM of old" {
						continue // its first line does not say how long it is, nor the last, far from all, what it is
					}
					var w written
					for i, line := range f.lines {
						if i == at {
							put(&w, odd, false)
						}
						if missing == "begin" && i < f.first || missing == "end" && i >= f.last {
							continue
						}
						put(&w, line, i >= f.first && i < f.last)
					}
					n++
					w.held(t, fmt.Sprintf("%s without its %s, %.10s before line %d", f.name, missing, odd, at))
				}
			}
		}
		var w written
		for i, line := range f.lines {
			if i == f.first || i == f.last {
				put(&w, "# "+prose[:740], false)
			}
			put(&w, line, i >= f.first && i < f.last)
		}
		w.held(t, f.name+" between long comments")
		for width := 10; width <= 13; width++ {
			w = written{}
			for _, line := range f.lines[:f.first] {
				put(&w, line, false)
			}
			for _, line := range wrapped(strings.Join(f.lines[f.first:f.last], ""), width) {
				put(&w, line, true)
			}
			put(&w, f.lines[f.last], false)
			n++
			w.held(t, fmt.Sprintf("%s in lines of %d", f.name, width))
		}
	}
	t.Logf("%d texts", n)
}
