//go:build race

package addresses

const isRace = true
