package wire

import (
	"encoding/json"
	"testing"
)

// What is wrong with params is said in the words of JSON.
func TestParamsOfAnotherType(t *testing.T) {
	for raw, want := range map[string]string{
		`{"query":5}`:             "query is not a string, but number",
		`{"k":"3"}`:               "k is not an integer, but string",
		`{"k":1.5}`:               "k is not an integer, but number 1.5",
		`{"current":"yes"}`:       "current is not true or false, but string",
		`{"roots":{}}`:            "roots is not an array, but object",
		`{"at":{"line":"first"}}`: "at.line is not an integer, but string",
		`{"at":[]}`:               "at is not an object, but array",
		`[1]`:                     "the params are not an object, but array",
		`{"query":"x","k":3}`:     "",
		`null`:                    "",
		``:                        "",
	} {
		var p struct {
			Query   string   `json:"query"`
			K       int      `json:"k"`
			Current bool     `json:"current"`
			Roots   []string `json:"roots"`
			At      struct {
				Line uint32 `json:"line"`
			} `json:"at"`
		}
		got := ""
		if err := DecodeParams(json.RawMessage(raw), &p); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}
