package editortest

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestFilm(t *testing.T) {
	screen := func(rows ...string) Screen {
		s := Screen{Columns: 20}
		for _, row := range rows {
			var cells []Cell
			for _, r := range row {
				cells = append(cells, Cell{Text: r})
			}
			s.Rows = append(s.Rows, cells)
		}
		return s
	}
	var film Film
	film.Show(screen("stays", "first"), time.Second)
	film.Show(screen("stays", "second"), 2*time.Second)
	film.Show(screen("stays", "first", "last"), time.Second)
	svg := film.SVG("a film", Dark, 1)

	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
	}
	for text, want := range map[string]int{">stays<": 1, ">first<": 2, ">second<": 1, ">last<": 1} {
		if got := strings.Count(svg, text); got != want {
			t.Errorf("%s is drawn %d times, want %d", text, got, want)
		}
	}
	for _, want := range []string{
		`<g display="none"><animate attributeName="display" calcMode="discrete" repeatCount="indefinite" dur="4.00s" values="inline;none" keyTimes="0;0.2500"/>`,
		`<g display="inline"><animate attributeName="display" calcMode="discrete" repeatCount="indefinite" dur="4.00s" values="none;inline;none" keyTimes="0;0.2500;0.7500"/>`,
		`values="none;inline" keyTimes="0;0.7500"/>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is not in\n%s", want, svg)
		}
	}
}
