// Command maskbench counts what package mask writes over in checkouts or bare
// repositories, one line for each value: its repository, file, line and beginning. The
// last line has the lines of code and the values.
//
//	go run ./bench/maskbench DIR...
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"quarry/index/mask"
	"quarry/index/walk"
)

func main() {
	log.SetFlags(0)
	lines, values, files := 0, 0, 0
	for _, dir := range os.Args[1:] {
		l, v, f, err := count(dir)
		if err != nil {
			log.Fatalf("%s: %v", dir, err)
		}
		lines, values, files = lines+l, values+v, files+f
	}
	fmt.Printf("%d repositories, %d files, %d lines, %d values masked\n", len(os.Args)-1, files, lines, values)
}

// count looks at every text of the newest commit that quarry would read.
func count(dir string) (lines, values, files int, err error) {
	git := func(args ...string) *exec.Cmd { return exec.Command("git", append([]string{"-C", dir}, args...)...) }
	listed, err := git("ls-tree", "-r", "-z", "--name-only", "HEAD").Output()
	if err != nil {
		return 0, 0, 0, err
	}
	names := strings.Split(strings.TrimSuffix(string(listed), "\x00"), "\x00")
	var ask bytes.Buffer
	for _, name := range names {
		fmt.Fprintf(&ask, "HEAD:%s\n", name)
	}
	batch := git("cat-file", "--batch")
	batch.Stdin = &ask
	out, err := batch.StdoutPipe()
	if err != nil {
		return 0, 0, 0, err
	}
	if err := batch.Start(); err != nil {
		return 0, 0, 0, err
	}
	in := bufio.NewReaderSize(out, 1<<20)
	for _, name := range names {
		head, err := in.ReadString('\n')
		if err != nil {
			return 0, 0, 0, err
		}
		var id, kind string
		var size int
		if n, _ := fmt.Sscan(head, &id, &kind, &size); n < 3 {
			continue // a blob that the copy lacks
		}
		text := make([]byte, size+1)
		if _, err := io.ReadFull(in, text); err != nil {
			return 0, 0, 0, err
		}
		text = text[:size]
		if kind != "blob" || bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) || walk.IsSecret(name) || walk.IsSecretText(text) {
			continue
		}
		files++
		lines += bytes.Count(text, []byte("\n"))
		for _, s := range mask.Spans(string(text)) {
			values++
			start := bytes.LastIndexByte(text[:s.Start], '\n') + 1
			fmt.Printf("%s\t%s:%d\t%q\n", filepath.Base(filepath.Dir(dir)), name, bytes.Count(text[:s.Start], []byte("\n"))+1, text[max(start, s.Start-40):min(s.Start+12, s.End)])
		}
	}
	return lines, values, files, batch.Wait()
}
