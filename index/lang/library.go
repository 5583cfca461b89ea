package lang

import (
	"slices"
	"strings"
)

// PythonLibrary answers whether a module, or the package that it is in, belongs to Python's
// standard library in some version that is in use. sure is false if other versions lack it, so
// that a project may have a module of its own under that name.
func PythonLibrary(module string) (is, sure bool) {
	first, _, _ := strings.Cut(module, ".")
	if _, sure = slices.BinarySearch(pythonLibrary, first); sure {
		return true, true
	}
	_, is = slices.BinarySearch(pythonSometimes, first)
	return is, false
}

// pythonLibrary is sys.stdlib_module_names of Python 3.14 without private names and without
// what only that has, sorted.
var pythonLibrary = strings.Fields(`
	abc antigravity argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 cProfile calendar cmath cmd code codecs codeop
	collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg csv ctypes curses dataclasses datetime dbm
	decimal difflib dis doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc
	genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib importlib inspect io ipaddress
	itertools json keyword linecache locale logging lzma mailbox marshal math mimetypes mmap modulefinder msvcrt multiprocessing netrc nt ntpath
	nturl2path numbers opcode operator optparse os pathlib pdb pickle pickletools pkgutil platform plistlib poplib posix posixpath pprint
	profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched
	secrets select selectors shelve shlex shutil signal site smtplib socket socketserver sqlite3 sre_compile sre_constants sre_parse ssl stat
	statistics string stringprep struct subprocess symtable sys sysconfig syslog tabnanny tarfile tempfile termios textwrap this threading time
	timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uuid venv
	warnings wave weakref webbrowser winreg winsound wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo`)

// pythonSometimes are the modules that Python 3.8 has and 3.14 has not (PEP 594, PEP 632), and
// those that only 3.14 has, sorted.
var pythonSometimes = strings.Fields(`
	aifc annotationlib asynchat asyncore audioop cgi cgitb chunk compression crypt distutils imghdr imp lib2to3 mailcap msilib nis nntplib
	ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib`)
