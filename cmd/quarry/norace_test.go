//go:build !race

package main

const slower, larger = 1, 1
