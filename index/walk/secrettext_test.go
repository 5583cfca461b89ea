package walk

import (
	"strings"
	"testing"
)

// pem writes a block whose label is put together here, so that no scanner takes
// this file for a key.
func pem(label string) string {
	return "-----BEGIN " + label + "-----\nMIIEowIBAAKCAQEAuV1J\nq83y\n-----END " + label + "-----\n"
}

const private = "PRIVATE " + "KEY"

func TestSecretText(t *testing.T) {
	for name, text := range map[string]string{
		"RSA":                pem("RSA " + private),
		"PKCS8":              pem(private),
		"encrypted":          pem("ENCRYPTED " + private),
		"OpenSSH":            pem("OPENSSH " + private),
		"PGP":                pem("PGP " + private + " BLOCK"),
		"EC with parameters": pem("EC PARAMETERS") + pem("EC "+private),
		"after many":         strings.Repeat(pem("CERTIFICATE"), 500) + pem(private),
		"far in JSON":        "{\"a\": \"" + strings.Repeat("x", 1<<14) + "\", \"private_key\": \"-----BEGIN " + private + "-----\\n\"}",
		"cut in its line":    strings.Repeat("#\n", 1<<11-5) + pem(private),
		"certificates first": strings.Repeat(pem("CERTIFICATE"), 20) + pem(private),
		"as openssl prints":  "Bag Attributes\n    friendlyName: me\n    localKeyID: 01 02\nKey Attributes: <No Attributes>\n" + pem(private),
		"mark and blanks":    "\ufeff\r\n\r\n" + strings.ReplaceAll(pem(private), "\n", "\r\n"),
		"SSH2":               "---- BEGIN SSH2 ENCRYPTED " + private + " ----\nComment: x\n",
		"PuTTY":              "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n",
		"age":                "# created: 2024-01-02\n# public key: age1xyz\nAGE-SECRET-" + "KEY-1QQQQ\n",
		"below a heading":    "# Keys\n\n" + pem(private),
		"with a comment":     "-----BEGIN " + private + "-----\n# of staging...\n" + strings.Repeat("QUJD", 16) + "\n-----END " + private + "-----\n",
		"cut off":            "# Keys\n-----BEGIN " + private + "-----\n...\n",
		"minisign":           "untrusted comment: minisign encrypted secret key\nRWRTY0Iy\n",
		"OpenVPN":            "#\n# 2048 bit OpenVPN static key\n#\n-----BEGIN OpenVPN Static key V1-----\n00\n",
		"service account":    "{\n  \"type\": \"service_account\",\n  \"private_key\": \"-----BEGIN " + private + "-----\\nMIIE\\n\"\n}\n",
	} {
		if !IsSecretText(text) || !IsSecretText([]byte(text)) || unfit([]byte(text)) != Secret {
			t.Errorf("%s is taken for no key", name)
		}
	}
	for name, text := range map[string]string{
		"":             "",
		"public":       pem("PUBLIC KEY") + pem("CERTIFICATE"),
		"OpenSSH's":    "ssh-ed25519 AAAAC3Nz me@example.com\n",
		"Go":           "package a\n\nconst key = `\n" + pem("RSA "+private) + "`\n",
		"shell":        "#!/bin/sh\ncat > key <<EOF\n" + pem(private) + "EOF\n",
		"Markdown":     "# Keys\n\nA key looks like this:\n\n" + pem(private),
		"a heading":    "# Keys\n\n-----BEGIN " + private + "-----\n...\n-----END " + private + "-----\n\nand so on\n",
		"its first":    "# Keys\n-----BEGIN RSA " + private + "-----\nMIIEpAIBAAKCAQEA...\n-----END RSA " + private + "-----\n",
		"in words":     "# Keys\n-----BEGIN " + private + "-----\n<the key of your account, as you got it>\n-----END " + private + "-----\n",
		"JSON schema":  `{"properties": {"private_key": {"type": "string"}}}`,
		"public of it": "untrusted comment: minisign public key 01\nRWQ\n",
		"prose":        "PuTTY keys begin with PuTTY-User-Key-File-2.\n",
		"one line":     strings.Repeat("x", 1<<17),
	} {
		if IsSecretText(text) || unfit([]byte(text)) == Secret {
			t.Errorf("%s is taken for a key", name)
		}
	}
}
