package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"quarry/index/store"
)

// stateFiles is where the index of one root lies: a folder with the database and
// the file that is locked by the process that writes it.
type stateFiles struct {
	dir  string
	lock *flock.Flock // nil if the index cannot be on disk
	// taking is held from before the lock is taken until its database is the one in use.
	taking sync.Mutex
	// keeping is held while what is kept is put in its place or removed, and while the lock is
	// let go: who writes it beside another process is the one that may.
	keeping sync.Mutex
	// opened is the database file a reader has open.
	opened os.FileInfo
	// older is how often a reader found the database to be an older quarry's.
	older int
	// mine is the database file that this process writes, nil if there is none.
	mine atomic.Pointer[os.FileInfo]
}

func (s *stateFiles) database() string { return filepath.Join(s.dir, "index.db") }

// databaseSuffixes are of the files that a database is in.
var databaseSuffixes = []string{"", "-wal", "-shm"}

func (s *stateFiles) lockFile() string { return filepath.Join(s.dir, "lock") }

func (s *stateFiles) unlock() error {
	if s.lock == nil {
		return nil
	}
	s.keeping.Lock()
	defer s.keeping.Unlock()
	return s.lock.Close()
}

// storage is the database that an index reads, and writes where this process owns it, with the
// files around it.
type storage struct {
	stateFiles
	x       *Index
	current atomic.Pointer[store.Store]
	notKept error // why the index went to memory last; guarded by Index.mu
	// retired closes the databases that were read from before; it belongs to the coordinator.
	retired []func()
}

// DefaultStateDir is quarry's folder for state: QUARRY_STATE_DIR, else what the
// platform provides.
func DefaultStateDir() (string, error) {
	if dir := os.Getenv("QUARRY_STATE_DIR"); dir != "" {
		return dir, nil
	}
	var dir string
	home, err := os.UserHomeDir()
	switch runtime.GOOS {
	case "windows":
		dir, err = os.UserCacheDir() // %LocalAppData%
	case "darwin":
		dir = filepath.Join(home, "Library", "Application Support")
	default:
		if dir = os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
			err = nil
		} else {
			dir = filepath.Join(home, ".local", "state")
		}
	}
	if err != nil {
		return "", fmt.Errorf("find the state folder: %w; set QUARRY_STATE_DIR", err)
	}
	return filepath.Join(dir, "quarry"), nil
}

// stateDirOf is quarry's folder for state, absolute; stateDir is "" for the default.
func stateDirOf(stateDir string) (string, error) {
	if stateDir == "" {
		var err error
		if stateDir, err = DefaultStateDir(); err != nil {
			return "", err
		}
	}
	return filepath.Abs(stateDir)
}

// databaseDir is the folder of a root's index: its name, for people, and a hash of
// its path.
func databaseDir(stateDir, root string) (string, error) {
	stateDir, err := stateDirOf(stateDir)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(stateDir, "index", filepath.Base(root)+"-"+hex.EncodeToString(sum[:6])), nil
}

// open opens the database as its writer, or to read it if another process
// writes it, or else in memory.
func (d *storage) open() error {
	dir, err := databaseDir(d.x.cfg.StateDir, d.x.root.Dir())
	if err == nil {
		d.dir = dir
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return d.startInMemory(err)
	}
	d.lock = flock.New(d.lockFile())
	won, err := d.becomeOwner()
	switch {
	case err != nil:
		return d.startInMemory(err)
	case won:
		return nil
	}
	d.x.cfg.Log.Info("another process writes the index; reading it", "root", d.x.root.Dir())
	empty, err := store.Open("", d.x.saved.fire)
	if err != nil {
		return err
	}
	d.current.Store(empty)
	if err := d.follow(); err != nil {
		return d.startInMemory(err)
	}
	return nil
}

// becomeOwner takes the lock if it is free, and opens the database to write. As
// long as it is not free the database is opened anew when the writer made another.
func (d *storage) becomeOwner() (won bool, err error) {
	d.taking.Lock()
	defer d.taking.Unlock()
	if won, err = d.lock.TryLock(); err != nil || !won {
		if err == nil && d.current.Load() != nil {
			err = d.follow()
		}
		return false, err
	}
	d.nameWriter() // before anything that takes time: it may be stopped in the middle of that
	s, err := d.openOwn()
	if err != nil {
		return false, errors.Join(err, d.lock.Unlock())
	}
	d.x.Kept().identify(s)
	err = errors.Join(d.x.Kept().doubt(s), wasBehind(context.Background(), d.x, s), forgetSecrets(d.x, s))
	if err == nil && d.isLockRemoved() { // it was opened before, and another quarry may hold the new one
		err = errRemoved
	}
	if err != nil {
		return false, errors.Join(err, s.Close(), d.lock.Unlock())
	}
	d.x.mu.Lock()
	d.x.looked = false // by this process; whoever wrote before may not have heard of all
	d.x.mu.Unlock()
	d.swap(s, true)
	return true, nil
}

// unlockInMemory gives up the lock that an index now in memory held, unless it is on disk again
// by then.
func (d *storage) unlockInMemory() error {
	d.taking.Lock()
	defer d.taking.Unlock()
	if !d.x.Store().InMemory() {
		return nil
	}
	return d.unlock()
}

// OtherVersion says that a quarry of another version writes an index, which this one cannot
// read.
type OtherVersion struct {
	PID   int // 0 if it is not known
	cause error
}

func (o *OtherVersion) Error() string {
	return fmt.Sprintf("another version of %s holds it; end that, or restart its editor: %v", processNamed(o.PID), o.cause)
}

func (o *OtherVersion) Unwrap() error { return o.cause }

// processNamed is a quarry by the process that it is.
func processNamed(pid int) string {
	if pid == 0 {
		return "quarry"
	}
	return fmt.Sprintf("quarry (process %d)", pid)
}

// olderLooks is at how many looks, one each ownerPoll, a database has to be an older quarry's:
// one of this version may just be bringing it up to date.
const olderLooks = 3

// follow opens the database that another process writes, if it is not open yet. It fails with
// *OtherVersion where that can never be.
func (d *storage) follow() error {
	info, err := os.Stat(d.database())
	if err != nil || d.opened != nil && os.SameFile(info, d.opened) {
		return nil
	}
	s, err := store.OpenToRead(d.database())
	if err != nil {
		d.x.cfg.Log.Debug("follow the index of another process", "error", err)
		if errors.Is(err, store.ErrOlderSchema) {
			d.older++
		}
		if errors.Is(err, store.ErrNewerSchema) || d.older >= olderLooks {
			return &OtherVersion{d.writer(), err}
		}
		return nil
	}
	d.opened, d.older = info, 0
	d.swap(s, false)
	return nil
}

// otherVersion fails with *OtherVersion while such a quarry writes the database.
func (s *stateFiles) otherVersion() error {
	if free, err := s.lock.TryLock(); err != nil {
		return err
	} else if free {
		return s.lock.Unlock()
	}
	db, err := store.OpenToRead(s.database())
	if err == nil {
		return db.Close()
	}
	return &OtherVersion{s.writer(), err}
}

// swap replaces the database that is read from. The owner reads its own, at any time:
// it is there before anybody can learn who the owner is.
func (d *storage) swap(s *store.Store, owner bool) {
	d.mine.Store(nil)
	if owner && !s.InMemory() {
		if info, err := os.Stat(d.database()); err == nil {
			d.mine.Store(&info)
		}
	}
	old := d.current.Swap(s)
	d.x.mu.Lock()
	wrote := d.x.owner
	d.x.owner = owner
	d.x.damaged = nil // it was the old one's
	d.x.mu.Unlock()
	if old != nil {
		d.retire(old, wrote || !owner)
	}
	d.x.saved.fire()
}

// retiredFor is how long a database that was read from stays open for whoever has it: a search
// that has begun asks it several things.
const retiredFor = 30 * time.Second

// retire closes a database that another one has replaced. It does so at once if the files of its
// name may be others by now, another quarry's or made anew, which each further connection would
// open; and if nobody can have it yet.
func (d *storage) retire(old *store.Store, replaced bool) {
	end := sync.OnceFunc(func() {
		if err := old.Close(); err != nil {
			d.x.cfg.Log.Error("close the index", "error", err)
		}
	})
	if replaced || d.x.closing == nil {
		end()
		return
	}
	d.retired = append(d.retired, end)
	over := d.x.cfg.Clock.At(d.x.cfg.Clock.Now().Add(retiredFor))
	d.x.stopped.Go(func() {
		select {
		case <-d.x.closing:
		case <-over:
		}
		end()
	})
}

// closeRetired closes them now: some systems move and remove no file that is open.
func (d *storage) closeRetired() {
	for _, end := range d.retired {
		end()
	}
	d.retired = nil
}

// openOwn opens the database to write; a damaged one is set aside first.
func (d *storage) openOwn() (*store.Store, error) {
	s, err := store.Open(d.database(), d.x.saved.fire)
	if errors.Is(err, store.ErrCorrupt) {
		d.closeRetired()
		if err := d.setAside(err); err != nil {
			return nil, err
		}
		s, err = store.Open(d.database(), d.x.saved.fire)
	}
	return s, err
}

// setAside renames a damaged database, over the one set aside before.
func (d *storage) setAside(cause error) error {
	name := d.database()
	for _, suffix := range databaseSuffixes {
		if err := os.Rename(name+suffix, name+damagedSuffix+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("set the damaged index aside: %w", err)
		}
	}
	d.x.cfg.Log.Error("damaged index set aside", "error", cause, "copy", name+damagedSuffix)
	d.x.troubles.tell(fmt.Sprintf("The index of %s was damaged and is being rebuilt. A copy is kept at %s.damaged.", d.x.root.Dir(), name))
	return nil
}

// startInMemory begins without a database on disk.
func (d *storage) startInMemory(cause error) error {
	s, err := store.Open("", d.x.saved.fire)
	if err != nil {
		return errors.Join(cause, err)
	}
	d.goOnInMemory(s, cause)
	return nil
}

// goOnInMemory makes s the index, which is in memory. The one on disk is left to
// whatever other process can write it.
func (d *storage) goOnInMemory(s *store.Store, cause error) {
	d.notifyInMemory(cause)
	d.swap(s, true)
	d.x.startOver()
	d.x.embedding.letGo()
}

func (d *storage) notifyInMemory(cause error) {
	advice := ""
	var other *OtherVersion
	switch {
	case errors.As(cause, &other):
		advice = " quarry looks again every few seconds."
	case errors.Is(cause, errRemoved):
		advice = " quarry writes them again in a few seconds."
	case !errors.Is(cause, store.ErrNewerSchema) && d.dir != "":
		advice = fmt.Sprintf(" Free some disk space or make %s writable; quarry looks again every few minutes.", d.dir)
	}
	d.x.mu.Lock()
	d.notKept = cause
	d.x.mu.Unlock()
	d.x.troubles.begin(inMemory, fmt.Sprintf("The index of %s is kept in memory and will be lost at exit: %v.%s", d.x.root.Dir(), cause, advice))
}

// NotKept is why the index is in memory and will be lost at exit; nil if it is on disk.
func (x *Index) NotKept() error {
	if !x.Store().InMemory() {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state.notKept
}

// errRemoved says that somebody removed the database while it was open. What is written to it
// then is lost, and the lock beside it keeps nobody out any more.
var errRemoved = errors.New("its files were removed")

// maxCopied is the largest database that is copied into memory, in bytes; a larger
// one is made anew, which costs time and not memory at once.
const maxCopied = 512 << 20

// moveToMemory goes on in memory after a write failed for want of room, or the files are gone.
func (d *storage) moveToMemory(cause error) error {
	if info, err := os.Stat(d.database()); err == nil && info.Size() < maxCopied {
		s, err := d.x.Store().Copy(d.x.saved.fire)
		if err == nil {
			d.goOnInMemory(s, cause)
			return nil
		}
		d.x.cfg.Log.Warn("the index is made anew in memory", "error", err)
	}
	return d.startInMemory(cause)
}

// replace makes the index anew; damaged says why, nil if somebody asked for it.
func (d *storage) replace(damaged error) error {
	if d.x.Store().InMemory() {
		s, err := store.Open("", d.x.saved.fire)
		if err != nil {
			return err
		}
		d.swap(s, true)
		d.x.startOver()
		return nil
	}
	// The file can be moved or removed on every system only once it is closed.
	d.closeRetired()
	if err := d.x.Store().Close(); err != nil {
		d.x.cfg.Log.Error("close the index", "error", err)
	}
	var s *store.Store
	var err, kept error
	if damaged != nil {
		err = d.setAside(damaged)
	} else {
		kept = d.removeDatabase()
	}
	if runtime.GOOS != "windows" {
		err, kept = errors.Join(err, kept), nil
	}
	if err == nil {
		s, err = store.Open(d.database(), d.x.saved.fire)
	}
	if err == nil && kept != nil {
		d.x.cfg.Log.Info("another quarry has the database open: the index is rebuilt in the same file", "because", kept)
		if err = readAllAgain(s); err != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if err != nil {
		return d.startInMemory(err)
	}
	d.x.Kept().identify(s)
	d.swap(s, true)
	d.x.startOver()
	return nil
}

// removeDatabase removes the files of the database, the database itself first, and ends at the first that
// cannot be removed. Windows removes none that another process has open.
func (d *storage) removeDatabase() error {
	for _, suffix := range databaseSuffixes {
		if err := os.Remove(d.database() + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// startOver asks for everything to be looked at again.
func (x *Index) startOver() {
	x.request(func() {
		x.scans[""] = true
		for rel := range x.buffers {
			x.due[rel] = x.cfg.Clock.Now()
		}
	})
}
