// Package lsptest plays the scenarios of testdata/marker against the real binary, by
// editors without a screen; marker_test.go explains their commands.
package lsptest
