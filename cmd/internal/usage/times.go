package usage

import (
	"math"
	"slices"
	"time"
)

// Times counts durations by size: the key k is of those of about step^k microseconds, which
// is exact enough for a percentile and can be added up.
type Times map[int]int

// step is the ratio of one size to the next: a percentile is off by a fortieth at most.
const step = 1.05

// put counts a duration.
func (t *Times) put(d time.Duration) {
	if *t == nil {
		*t = Times{}
	}
	micros := max(1, float64(d)/float64(time.Microsecond))
	(*t)[int(math.Round(math.Log(micros)/math.Log(step)))]++
}

func (t *Times) merge(from Times) {
	for size, n := range from {
		if *t == nil {
			*t = Times{}
		}
		(*t)[size] += n
	}
}

// Count is how many there are.
func (t Times) Count() (n int) {
	for _, of := range t {
		n += of
	}
	return n
}

// Percentile is the p-th, by nearest rank, 0 of none.
func (t Times) Percentile(p int) time.Duration {
	rank := (t.Count()*p + 99) / 100
	sizes := make([]int, 0, len(t))
	for size := range t {
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	for _, size := range sizes {
		if rank -= t[size]; rank <= 0 {
			return time.Duration(math.Pow(step, float64(size)) * float64(time.Microsecond))
		}
	}
	return 0
}
