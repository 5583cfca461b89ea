package lsptest_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
)

func same[T any](what string, want, got T) error {
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("%s (-want +got):\n%s", what, diff)
	}
	return nil
}

func unquoteAll(s string) ([]string, error) {
	var list []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return nil, fmt.Errorf("%w in %s", err, s)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
		s = s[len(quoted):]
	}
	return list, nil
}

// words cuts text as a tokenizer roughly does, so that it streams.
func words(text string) []string {
	var list []string
	for text != "" {
		n := strings.IndexAny(text[1:], " \n\t(.") + 1
		if n == 0 {
			n = len(text)
		}
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}
