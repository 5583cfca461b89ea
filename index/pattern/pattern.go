// Package pattern has regular expressions that are compiled when somebody needs them first:
// before main, those of all packages took a twentieth of what a short command does.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy is regexp.MustCompile at the first call. It is safe for concurrent use.
func Lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
