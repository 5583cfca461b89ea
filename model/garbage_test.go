package model_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quarry/model"
)

// garbage is what a server may answer that is broken, hostile, or no model
// server at all.
var garbage = map[string]string{
	"nothing":          "",
	"blank lines":      "\n\n\n\n",
	"binary":           "\x00\xff\xfe\x80\n\x00",
	"null":             "null",
	"a number":         "7",
	"an array":         "[[[[]]]]\n",
	"wrong types":      `{"response":7,"done":"yes","choices":{"a":1}}`,
	"half an object":   `{"response":"a`,
	"deep":             strings.Repeat("[", 20_000),
	"half a character": "{\"response\":\"\xc3\"}",
	"a long line":      `{"response":"` + strings.Repeat("x", 1<<20),
	"events of chat":   "event: message\ndata: \ndata: {\ndata: [DONE\n",
	"data of no shape": "data: null\ndata: 7\ndata: []\n",
	"an odd error":     "data: {\"error\":[1,2]}\n",
	"choices of null":  "data: {\"choices\":[null,{\"logprobs\":{\"token_logprobs\":[null]},\"text\":\"\"}]}\n",
}

func TestGarbageIsAnError(t *testing.T) {
	for _, api := range []model.API{model.OllamaAPI, model.OpenAIAPI} {
		for name, body := range garbage {
			t.Run(string(api)+" "+name, func(t *testing.T) {
				good := `{"version":"0.17.4","data":[{"id":"granite4.1:3b"}],"model_info":{},"done":true}`
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					request, _ := io.ReadAll(r.Body)
					if strings.Contains(string(request), "rubbish") {
						io.WriteString(w, body)
						return
					}
					io.WriteString(w, good)
				}))
				defer s.Close()
				opt := options(s.URL)
				opt.API, opt.Families = api, nil
				o := ready(t, opt)
				text, _, err := collect(soon(t), o, "rubbish", 5)
				if err == nil {
					t.Errorf("no error, and the text %.40q", text)
				}
				if len(err.Error()) > 400 || strings.Contains(err.Error(), "\n") {
					t.Errorf("the user reads %q", err)
				}
			})
		}
	}
}
