//go:build !arm64

package vector

import "github.com/viterin/vek/vek32"

// By is how vectors are compared on this processor.
func By() string {
	if vek32.Info().Acceleration {
		return "AVX2"
	}
	return "one number at a time"
}

// dot is the dot product of two vectors of one length, by AVX2 where the processor has it.
func dot(a, b []float32) float32 { return vek32.Dot(a, b) }
