package model_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"quarry/model"
	"quarry/model/modeltest"
)

func TestReranker(t *testing.T) {
	reply, status := "", http.StatusOK
	var asked struct {
		Model, Query string
		Documents    []string
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/rerank" || r.Header.Get("Authorization") != "Bearer key" {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
		if _, err := w.Write([]byte(reply)); err != nil {
			t.Error(err)
		}
	}))
	defer s.Close()
	r, err := model.NewReranker(model.RerankerOptions{URL: s.URL, APIKey: "key", Model: "cross"})
	if err != nil {
		t.Fatal(err)
	}
	judge := func() ([]float64, error) {
		scores := []float64{-1, -1}
		err := r.Judge(soon(t), "where", []string{"a", "b"}, func(i int, score float64) { scores[i] = score })
		return scores, err
	}
	reply = `{"results":[{"index":1,"relevance_score":3.5},{"index":0,"relevance_score":-2}]}`
	if scores, err := judge(); err != nil || !slices.Equal(scores, []float64{-2, 3.5}) {
		t.Errorf("scores %v, %v", scores, err)
	}
	if asked.Model != "cross" || asked.Query != "where" || !slices.Equal(asked.Documents, []string{"a", "b"}) || r.Name() != "cross" {
		t.Errorf("asked %+v", asked)
	}
	for _, reply = range []string{"", "[]", `{"results":[]}`, `{"results":[{"index":0,"relevance_score":1}]}`, `{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}`,
		`{"results":[{"index":0,"relevance_score":1},{"index":2,"relevance_score":1}]}`, `{"results":[{"index":0},{"index":1}]}`} {
		if scores, err := judge(); err == nil || scores[0] != -1 {
			t.Errorf("%s: scores %v", reply, scores)
		}
	}
	status, reply = http.StatusServiceUnavailable, `{"error":{"message":"full"}}`
	if _, err := judge(); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("a busy server: %v", err)
	}
	if _, err := model.NewReranker(model.RerankerOptions{URL: "http://models.example:80"}); err == nil || !strings.Contains(err.Error(), "allowRemote") {
		t.Errorf("a remote server: %v", err)
	}
}

func TestIdle(t *testing.T) {
	s := modeltest.NewServer(t)
	o := ready(t, options(s.URL))
	if !o.Idle() {
		t.Error("a ready model is busy")
	}
	s.Queue(modeltest.Answer{Pieces: []string{"a"}})
	if _, err := o.Generate(soon(t), fim("x", "y"), 1, nil, 0, func(string, float64) bool {
		if o.Idle() {
			t.Error("a model is idle while it completes")
		}
		return true
	}); err != nil {
		t.Error(err)
	}
	if other, err := model.New(options(s.URL)); err != nil || other.Idle() {
		t.Errorf("a model that nobody looked at is idle (%v)", err)
	}
}
