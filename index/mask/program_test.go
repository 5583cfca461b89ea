package mask_test

import (
	"testing"

	"quarry/index/mask"
)

// A program that makes a Secret of Kubernetes computes its values: what has no quotes is code.
func TestProgramsThatMakeSecrets(t *testing.T) {
	for name, text := range map[string]string{
		"members of an object": `const body = {
  apiVersion: 'v1',
  kind: 'Secret',
  data: {
    password: Buffer.from(password).toString('base64'),
    token: await issueToken(namespace, user),
    apiKey: props.apiKey,
    tokenSecret: props.tokens[0],
    passwordHash,
  },
};
`,
		"on one line":       "return { kind: 'Secret', data: { password: encodeSecret(password) } };\n",
		"the kind is last":  "x = {\n  data: {\n    password: encodeSecret(password),\n  },\n  kind: 'Secret'\n}\n",
		"a dictionary":      "body = {\n    \"kind\": \"Secret\",\n    \"stringData\": {\n        \"password\": base64.b64encode(password.encode()).decode(),\n    },\n}\n",
		"a hash":            "client.create_secret({\n  kind: \"Secret\",\n  data: {\n    password: Base64.strict_encode64(password),\n  },\n})\n",
		"a macro":           "json!({ \"kind\": \"Secret\", \"data\": { \"password\": encode(password) } })\n",
		"a template's call": "{ kind: 'Secret', data: { password: std.base64($.config.password) } }\n",
		"what a test wants": "expect(x).toEqual({ kind: 'Secret', data: { password: expect.any(String) } });\n",
	} {
		if got := mask.Text(text); got != text {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, text := range map[string]string{
		"a program's literal": "x = { kind: 'Secret', data: { password: 'aHVudGVyMjI=' } };\n",
		"JSON":                `{"kind": "Secret", "data": {"password": "aHVudGVyMjI="}}`,
		"block style":         "kind: \"Secret\"\nstringData:\n  password: hunter2hunter2\n",
		"flow style":          "{kind: Secret, stringData: {password: hunter2hunter2}}\n",
		"flow style, encoded": "{kind: \"Secret\", data: {password: aHVudGVyMjI=}}\n",
	} {
		if got := mask.Text(text); got == text {
			t.Errorf("%s: shown", name)
		}
	}
}
