//go:build !linux

package walk

// times knows nothing: whether a folder's time changes whenever a name in it comes or
// goes depends on the file system, which is asked on Linux alone.
type times struct{}

func openTimes(string) times { return times{} }

func (times) close() {}

func (times) of(string) int64 { return 0 }

func (times) stat(*Entry) (Reason, bool) { return Unreadable, true }
