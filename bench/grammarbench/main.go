// Command grammarbench feeds the fixtures of index/syntax, mutated, as open documents to
// a real server, and counts how often it dies, hangs or grows.
//
//	make build && go run -tags sqlite_fts5 ./bench/grammarbench -for 12m bin/quarry
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"quarry/index/lang"
	"quarry/lsp/headless"
)

// timeout is how long a server may take to answer before it counts as hung: it has a
// busy machine to itself no more than we do.
const timeout = 2 * time.Minute

func main() {
	log.SetFlags(0)
	span := flag.Duration("for", time.Minute, "how long")
	seed := flag.Uint64("seed", 1, "of the mutations")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: grammarbench [-for DURATION] [-seed N] QUARRY")
	}
	fixtures, err := read("testdata/syntax")
	if err != nil {
		log.Fatal(err)
	}
	f := fuzzer{binary: flag.Arg(0), fixtures: fixtures, random: rand.New(rand.NewPCG(*seed, 1)), until: time.Now().Add(*span)}
	deaths := 0
	for time.Now().Before(f.until) {
		if err := f.session(); err != nil {
			deaths++
			log.Printf("after %d documents: %v", f.documents, err)
			name := fmt.Sprintf("grammarbench-%d.txt", deaths)
			if err := os.WriteFile(name, []byte(strings.Join(f.last, "\n\x00\n")), 0o644); err != nil {
				log.Fatal(err)
			}
			log.Print("the last documents are in ", name)
		}
	}
	fmt.Printf("%d languages, %d documents, %d edits, %d sessions that ended early, at most %d MB resident\n", len(fixtures), f.documents, f.edits, deaths, f.most>>20)
	if deaths > 0 {
		os.Exit(1)
	}
}

type fixture struct{ name, text string }

func read(dir string) (list []fixture, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, fixture{filepath.Base(name), string(text)})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no fixtures in %s: run this in the repository", dir)
	}
	return list, nil
}

type fuzzer struct {
	binary           string
	fixtures         []fixture
	random           *rand.Rand
	until            time.Time
	documents, edits int
	most             uint64
	last             []string // documents of the round
}

// session runs one server until its time is over.
func (f *fuzzer) session() (err error) {
	dir, err := os.MkdirTemp("", "grammarbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	profile, err := headless.LoadProfile("vscode")
	if err != nil {
		return err
	}
	cmd := exec.Command(f.binary, "lsp", "--log-level=error", "--ollama=http://127.0.0.1:1")
	cmd.Env = append(os.Environ(), "QUARRY_STATE_DIR="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	settings := map[string]any{"diagnostics": map[string]any{"syntax": true}}
	e, err := headless.StartProcess(context.Background(), cmd, headless.Options{Profile: profile, Root: root, InitializationOptions: settings, Configuration: settings})
	if err != nil {
		return err
	}
	defer e.Kill()
	for time.Now().Before(f.until) {
		if err := f.round(e); err != nil {
			return err
		}
	}
	_, err = e.Quit(context.Background())
	return err
}

// round opens some documents, edits them, asks for a completion and the status, and
// closes them.
func (f *fuzzer) round(e *headless.Editor) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	f.last = nil
	var names []string
	for range 8 {
		x := f.fixtures[f.random.IntN(len(f.fixtures))]
		text := f.mutate(x.text)
		name := fmt.Sprintf("d%d/%s", f.documents, x.name)
		f.last = append(f.last, name+"\n"+text)
		b, err := e.Open(name, lang.Detect(name, []byte(text)), text)
		if err != nil {
			return err
		}
		f.documents++
		names = append(names, name)
		for range f.random.IntN(4) {
			n := len(b.Text.String())
			start := f.random.IntN(n + 1)
			end := min(n, start+f.random.IntN(20))
			if err := e.Replace(b, start, end, f.piece()); err != nil {
				continue // it cuts through a letter
			}
			f.edits++
		}
		b.Cursor = f.random.IntN(len(b.Text.String()) + 1)
		if err := e.Complete(ctx, b, true); err != nil && ctx.Err() != nil {
			return fmt.Errorf("a completion in %s: %w", name, err)
		}
	}
	var status struct {
		Memory struct {
			Resident uint64 `json:"resident_bytes"`
		}
	}
	var raw json.RawMessage
	if err := e.Call(ctx, "quarry/status", nil, &raw); err != nil {
		return fmt.Errorf("the status: %w", err)
	}
	if err := json.Unmarshal(raw, &status); err != nil {
		return err
	}
	f.most = max(f.most, status.Memory.Resident)
	for _, name := range names {
		if err := e.CloseDocument(name); err != nil {
			return err
		}
	}
	return nil
}

var pieces = []string{
	"(", ")", "{", "}", "[", "]", "<", ">", "\"", "'", "`", "\"\"\"", "'''", "/*", "*/", "//", "#", "<<EOF\n", "EOF\n", "\\", "\n", "\n\n", "\t", "        ", "\r\n", "$", "${", "#{", "%{", "=>", "->", "::", ":", ";", ",",
	"=", "==", "!", "?", "&", "|", "~", "@", "é", "𝒳", "\u202e", "0x", "1e9", "a", "_", "if", "end", "begin", "class", "def ", "fn ", "func ", "return", "select ", "---\n", "```\n", "- ", "> ", "<![CDATA[", "<!--", "-->", "<?php ", "?>",
}

func (f *fuzzer) piece() string { return pieces[f.random.IntN(len(pieces))] }

// mutate cuts, repeats, moves and puts in.
func (f *fuzzer) mutate(text string) string {
	for range 1 + f.random.IntN(12) {
		i := f.random.IntN(len(text) + 1)
		j := min(len(text), i+f.random.IntN(200))
		switch f.random.IntN(6) {
		case 0:
			text = text[:i] + text[j:]
		case 1:
			text = text[:j] + text[i:j] + text[j:]
		case 2:
			text = text[:i] + strings.Repeat(f.piece(), 1<<f.random.IntN(12)) + text[i:]
		case 3:
			k := f.random.IntN(len(text) + 1)
			text = text[:k] + text[i:j] + text[k:]
		case 4:
			lines := strings.SplitAfter(text, "\n")
			f.random.Shuffle(len(lines), func(a, b int) { lines[a], lines[b] = lines[b], lines[a] })
			text = strings.Join(lines[:min(len(lines), 400)], "")
		default:
			text = text[:i] + f.piece() + text[i:]
		}
		if len(text) > 200_000 {
			text = text[:200_000]
		}
	}
	return strings.ToValidUTF8(text, "?")
}
