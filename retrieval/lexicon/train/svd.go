package train

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// dense is a matrix by rows.
type dense struct {
	rows, cols int
	data       []float32
}

func newDense(rows, cols int) dense { return dense{rows, cols, make([]float32, rows*cols)} }

func (d dense) row(i int) []float32 { return d.data[i*d.cols:][:d.cols:d.cols] }

func transposed(m matrix) matrix {
	t := matrix{rows: make([][]entry, m.cols), cols: len(m.rows)}
	for i, row := range m.rows {
		for _, e := range row {
			t.rows[e.col] = append(t.rows[e.col], entry{uint32(i), e.n})
		}
	}
	return t
}

// parallel calls f for each of n, some at once. Each writes what belongs to it alone, so
// the result does not depend on how many.
func parallel(n int, f func(i int)) {
	workers := runtime.GOMAXPROCS(0)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wait.Wait()
}

func axpy(y []float32, a float32, x []float32) {
	x = x[:len(y)]
	i := 0
	for ; i+4 <= len(y); i += 4 {
		y4, x4 := y[i:i+4:i+4], x[i:i+4:i+4]
		y4[0] += a * x4[0]
		y4[1] += a * x4[1]
		y4[2] += a * x4[2]
		y4[3] += a * x4[3]
	}
	for ; i < len(y); i++ {
		y[i] += a * x[i]
	}
}

// times is m·x.
func (m matrix) times(x dense) dense {
	y := newDense(len(m.rows), x.cols)
	parallel(len(m.rows), func(i int) {
		out := y.row(i)
		for _, e := range m.rows[i] {
			axpy(out, e.n, x.row(int(e.col)))
		}
	})
	return y
}

// gram is xᵀ·x.
func gram(x dense) [][]float64 {
	k := x.cols
	const parts = 16
	partial := make([][]float32, parts)
	parallel(parts, func(p int) {
		g := make([]float32, k*k)
		for i := p; i < x.rows; i += parts {
			r := x.row(i)
			for a := range k {
				axpy(g[a*k+a:(a+1)*k], r[a], r[a:])
			}
		}
		partial[p] = g
	})
	out := make([][]float64, k)
	for a := range out {
		out[a] = make([]float64, k)
	}
	for a := range k {
		for b := a; b < k; b++ {
			s := 0.0
			for _, g := range partial {
				s += float64(g[a*k+b])
			}
			out[a][b], out[b][a] = s, s
		}
	}
	return out
}

// orthonormal makes x's columns orthonormal, by Cholesky's factor of its Gram matrix,
// twice for precision.
func orthonormal(x dense) {
	for range 2 {
		l := cholesky(gram(x))
		parallel(x.rows, func(i int) {
			r := x.row(i)
			for a := range r {
				s := float64(r[a])
				for b := range a {
					s -= l[a][b] * float64(r[b])
				}
				r[a] = float32(s / l[a][a])
			}
		})
	}
}

func cholesky(g [][]float64) [][]float64 {
	n := len(g)
	for j := range n {
		for b := range j {
			g[j][j] -= g[j][b] * g[j][b]
		}
		g[j][j] = math.Sqrt(max(g[j][j], 1e-12))
		for i := j + 1; i < n; i++ {
			for b := range j {
				g[i][j] -= g[i][b] * g[j][b]
			}
			g[i][j] /= g[j][j]
		}
	}
	return g
}

// eigen are the eigenvalues and the eigenvectors, as columns, of a symmetric matrix, by
// Jacobi's rotations; the largest first.
func eigen(a [][]float64) (values []float64, vectors [][]float64) {
	n := len(a)
	v := make([][]float64, n) // by rows: the eigenvectors
	for i := range v {
		v[i] = make([]float64, n)
		v[i][i] = 1
	}
	for range 30 {
		off, diagonal := 0.0, 0.0
		for i := range n {
			diagonal += a[i][i] * a[i][i]
			for j := range i {
				off += a[i][j] * a[i][j]
			}
		}
		if off < 1e-16*diagonal {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				if math.Abs(a[p][q]) < 1e-300 {
					continue
				}
				theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
				t := 1 / (math.Abs(theta) + math.Sqrt(theta*theta+1))
				if theta < 0 {
					t = -t
				}
				c := 1 / math.Sqrt(t*t+1)
				s := t * c
				for k := range n {
					x, y := a[k][p], a[k][q]
					a[k][p], a[k][q] = c*x-s*y, s*x+c*y
				}
				ap, aq, vp, vq := a[p], a[q], v[p], v[q]
				for k := range n {
					x, y := ap[k], aq[k]
					ap[k], aq[k] = c*x-s*y, s*x+c*y
					x, y = vp[k], vq[k]
					vp[k], vq[k] = c*x-s*y, s*x+c*y
				}
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int {
		if a[x][x] > a[y][y] {
			return -1
		} else if a[x][x] < a[y][y] {
			return 1
		}
		return x - y
	})
	for _, i := range order {
		values = append(values, a[i][i])
		vectors = append(vectors, v[i])
	}
	return values, vectors
}

// factor finds the left and right vectors of the largest singular values of m, scaled by
// the roots of these, by randomised subspace iteration (Halko, Martinsson and Tropp 2011).
func factor(m matrix, dims int) (left, right dense) {
	const (
		extra  = 24
		rounds = 2
	)
	k := min(dims+extra, m.cols, len(m.rows))
	t := transposed(m)
	r := rand.New(rand.NewPCG(1, 2))
	x := newDense(m.cols, k)
	for i := range x.data {
		x.data[i] = float32(r.NormFloat64())
	}
	var y dense
	for range rounds {
		y = m.times(x)
		orthonormal(y)
		x = t.times(y)
		orthonormal(x)
	}
	y = m.times(x) // m ≈ y·xᵀ with orthonormal x
	values, vectors := eigen(gram(y))
	dims = min(dims, k)
	left, right = newDense(len(m.rows), dims), newDense(m.cols, dims)
	project := func(to, from dense, power float64) {
		parallel(from.rows, func(i int) {
			in, out := from.row(i), to.row(i)
			for d := range dims {
				if values[d] < 1e-6*values[0] {
					break // rounding
				}
				s := 0.0
				for j, w := range vectors[d] {
					s += w * float64(in[j])
				}
				out[d] = float32(s * math.Pow(values[d], power))
			}
		})
	}
	// The values are the singular values' squares. y has these in its length already.
	project(left, y, -.25)
	project(right, x, .25)
	return left, right
}
