package walk

import (
	"strings"

	"quarry/index/pattern"
)

// SecretTextVersion names what IsSecretText takes and what package mask writes over. Raise it
// when that becomes more: the next start then reads every file again. What IsSecret
// takes needs no version, because every start walks.
const SecretTextVersion = "8"

// keyBegins are the lines that open a private key: PEM (RFC 7468, OpenSSL's older
// forms), OpenPGP, SSH2 (RFC 4716's relative), OpenVPN's shared key.
var keyBegins = pattern.Lazy(`^-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY( BLOCK)?-----|^---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----|^-----BEGIN OpenVPN (Static|tls-crypt-v2 \w+) key`)

// keyInJSON is what the keys of service accounts hold, whatever the file is called.
var keyInJSON = pattern.Lazy(`"private_?[kK]ey"\s*:\s*"-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY-----`)

// IsSecretText answers whether a text is a private key, whatever its name: PEM,
// OpenSSH, PuTTY, age, OpenPGP, minisign, or a service account's JSON. Other PEM
// blocks, comments and the attributes that OpenSSL writes may stand before the key;
// a program or a page that quotes one is none.
func IsSecretText[T string | []byte](text T) bool {
	// Nearly every text shows what it is by its first lines; a chain of certificates
	// before a key is shorter than farthest. Asked at each keystroke.
	const near, farthest = 1 << 12, 1 << 16
	secret, sure := isKey(string(text[:min(len(text), near)]), len(text) > near)
	if !sure {
		secret, _ = isKey(string(text[:min(len(text), farthest)]), len(text) > farthest)
	}
	return secret
}

// isKey judges the head of a text; cut says that there is more of it. sure is
// false if the rest could change the answer.
func isKey(head string, cut bool) (secret, sure bool) {
	head = strings.TrimLeft(strings.TrimPrefix(head, "\ufeff"), " \t\r\n")
	if strings.HasPrefix(head, "{") {
		secret = keyInJSON().MatchString(head)
		return secret, secret || !cut
	}
	inside, at := false, 0
	for line := range strings.Lines(head) {
		at += len(line)
		if cut && !strings.HasSuffix(line, "\n") {
			return false, false
		}
		s := strings.TrimSpace(line[:min(len(line), 200)])
		switch {
		case strings.HasPrefix(s, "-") && keyBegins().MatchString(s):
			return !quoted(head[at:]), true
		case strings.HasPrefix(s, "PuTTY-User-Key-File-"), strings.HasPrefix(s, "AGE-SECRET-KEY-"),
			strings.HasPrefix(s, "AGE-PLUGIN-"), strings.HasPrefix(s, "untrusted comment:") && strings.Contains(s, "secret key"):
			return true, true
		case strings.HasPrefix(s, "-----BEGIN "):
			inside = true
		case strings.HasPrefix(s, "-----END "):
			inside = false
		case !inside && !isKeyAttribute(s):
			return false, true
		}
	}
	return false, !cut
}

// quoted answers whether what stands behind the line that opens a key is only what a page writes
// in its place: "...", or words, up to the line that closes it.
func quoted(rest string) bool {
	const least = 44 // letters of base64 in the shortest key
	body, _, closed := strings.Cut(rest, "-----END ")
	n := 0
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); !strings.ContainsAny(line, " :.<[{") {
			n += len(line)
		}
	}
	return closed && n < least && (strings.ContainsAny(body, ".…<[") || strings.TrimSpace(body) == "")
}

// isKeyAttribute answers whether a line may stand between PEM blocks.
func isKeyAttribute(s string) bool {
	if s == "" || s[0] == '#' {
		return true
	}
	for _, prefix := range []string{"Bag Attributes", "Key Attributes", "friendlyName:", "localKeyID:", "subject=", "issuer=", "X509v3 ", "Microsoft ", "Comment:"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}
