package vector

// By is how vectors are compared on this processor.
func By() string { return "NEON" }

// dot is the dot product of two vectors of one length, sixteen numbers at a time by NEON.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	whole := len(a) &^ 15
	var sum float32
	if whole > 0 {
		var lanes [4]float32
		dot16(&a[0], &b[0], whole, &lanes)
		sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
	}
	for i := whole; i < len(a); i++ {
		sum += a[i] * b[i]
	}
	return sum
}

// dot16 leaves in lanes what to sum up for the dot product of n numbers at a and at b, n
// being a positive multiple of 16.
//
//go:noescape
func dot16(a, b *float32, n int, lanes *[4]float32)
