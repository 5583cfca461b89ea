package engines

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"quarry/lsp"
	"quarry/model"
)

// saying is a lsp.Job that notes what it shows.
type saying struct{ said *[]string }

func (s saying) Report(_ float64, message string) { *s.said = append(*s.said, "report "+message) }
func (s saying) End(message string)               { *s.said = append(*s.said, "end "+message) }

// A load of more than a moment is shown until it is over, a short one is not.
func TestALongLoadIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		j := &loadingJob{model: "granite4:micro", start: func(title string, _ func()) lsp.Job {
			said = append(said, title)
			return saying{&said}
		}}
		loading := model.State{Phase: model.Loading, Err: errors.New("Ollama is loading granite4:micro")}
		j.changed(loading)
		<-time.After(loadingMoment / 2)
		j.changed(model.State{Phase: model.Ready})
		<-time.After(time.Minute)
		if len(said) > 0 {
			t.Errorf("of a short load: %q", said)
		}
		j.changed(loading)
		j.changed(loading)
		<-time.After(time.Minute)
		j.changed(model.State{Phase: model.Ready})
		j.end("")
		want := []string{"Loading granite4:micro", "report Ollama is loading granite4:micro", "end ready"}
		if !slices.Equal(said, want) {
			t.Errorf("of a long load: %q, want %q", said, want)
		}
	})
}
