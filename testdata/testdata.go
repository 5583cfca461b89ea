// Package testdata carries the sample workspace that `quarry demo` opens.
package testdata

import "embed"

// Sample is a small workspace in three languages and places.json, which says
// where the demo types.
//
//go:embed sample
var Sample embed.FS
