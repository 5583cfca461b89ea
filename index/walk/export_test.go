package walk

import (
	"testing"
	"time"
)

// Later has what a test does happen an hour before walks look at it.
func Later(t *testing.T) {
	now = func() time.Time { return time.Now().Add(time.Hour) }
	t.Cleanup(func() { now = time.Now })
}
