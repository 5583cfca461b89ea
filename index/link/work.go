package link

import "quarry/index/store"

// A repository decides how many files, folders and declarations have a name, and how often each
// is asked for: 3,000 folders called lib and 20,000 imports of what is not in them are 60 million
// looks. So what is looked at for one file is counted.

const (
	// maxLooks is what may be looked at for the references of one file, some half a second; of the
	// 16,000 files of 35 trees that people wrote none takes 200,000. What is left then means
	// nothing.
	maxLooks = 1 << 25
	// aLook is a candidate that is compared by a number; aPath, one whose path is.
	aLook, aPath = 1, 16
	// betweenLooks is how often the question's context is asked whether it has ended.
	betweenLooks = 1 << 16
	// maxPackages is how many folders with a package.json a specifier of JavaScript may mean.
	maxPackages = 64
	// maxBindings is how many imports of a file may bring in one name, and maxCalled how many
	// names those files may call a declaration that hand it on.
	maxBindings, maxCalled = 64, 256
)

// work is what is left to look at.
type work struct {
	view *store.View
	left int
	// until is what is left at the next look at the context.
	until int
	ended bool // the question has
}

func newWork(v *store.View) *work {
	return &work{view: v, left: maxLooks, until: maxLooks - betweenLooks}
}

// take answers whether n more may be looked at: not if that is too much, nor if the question has
// ended, which the view's error says.
func (w *work) take(n int) bool {
	w.left -= n
	if w.left < w.until {
		w.until = w.left - betweenLooks
		w.ended = w.view.Err() != nil
	}
	return w.left >= 0 && !w.ended
}
