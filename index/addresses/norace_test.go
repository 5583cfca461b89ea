//go:build !race

package addresses

const isRace = false
