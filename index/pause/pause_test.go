package pause

import (
	"sync/atomic"
	"testing"
)

func TestPass(t *testing.T) {
	var stood atomic.Int32
	var f *Flag
	f.Pass() // a nil flag is never raised
	f = New(func() { stood.Add(1) })
	f.Pass()
	if n := stood.Load(); n != 0 {
		t.Errorf("stood still %d times at a flag that is down", n)
	}
	f.Raise()
	f.Pass()
	f.Pass()
	if n := stood.Load(); n != 2 {
		t.Errorf("stood still %d times at a raised flag, passed twice", n)
	}
	f.Lower()
	f.Pass()
	if n := stood.Load(); n != 2 {
		t.Errorf("stood still at a flag that was lowered")
	}
}
