package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Two of Go's modules carry C that others wrote, and not its licences: tree-sitter with its
// grammars and some headers of ICU, and SQLite. Each of these is a part of its own in the
// bill of materials.

// terms are the texts of licences, by their SPDX identifier; that of Apache-2.0 is quarry's own, too.
//
//go:embed licences
var terms embed.FS

// notice is under which terms a part stands, and whose it is.
type notice struct {
	licence   string // SPDX
	copyright string // as the part's own licence file has it
}

// grammars are the notices of tree-sitter's grammars, by their folder in the binding.
var grammars = map[string]notice{
	"bash":       {"MIT", "Copyright (c) 2017 Max Brunsfeld"},
	"c":          {"MIT", "Copyright (c) 2014 Max Brunsfeld"},
	"cpp":        {"MIT", "Copyright (c) 2014 Max Brunsfeld"},
	"csharp":     {"MIT", "Copyright (c) 2014-2023 Max Brunsfeld, Damien Guard, Amaan Qureshi, and contributors."},
	"css":        {"MIT", "Copyright (c) 2018 Max Brunsfeld"},
	"dockerfile": {"MIT", "Copyright (c) 2021 Camden Cheek"},
	"elixir":     {"Apache-2.0", "Copyright of the authors of tree-sitter-elixir"},
	"golang":     {"MIT", "Copyright (c) 2014 Max Brunsfeld"},
	"hcl":        {"Apache-2.0", "Copyright of the authors of tree-sitter-hcl"},
	"html":       {"MIT", "Copyright (c) 2014 Max Brunsfeld"},
	"java":       {"MIT", "Copyright (c) 2017 Ayman Nadeem"},
	"javascript": {"MIT", "Copyright (c) 2014 Max Brunsfeld"},
	"kotlin":     {"MIT", "Copyright (c) 2019 fwcd"},
	"lua":        {"ISC", "Copyright of the authors of tree-sitter-lua, whose package.json names this licence"},
	"markdown":   {"MIT", "Copyright (c) 2021 Matthias Deiml"},
	"php":        {"MIT", "Copyright (c) 2017 Josh Vera, GitHub\nCopyright (c) 2019 Max Brunsfeld, Amaan Qureshi, Christian Frøystad, Caleb White"},
	"protobuf":   {"MIT", "Copyright (c) 2021 Mitchell Hashimoto"},
	"python":     {"MIT", "Copyright (c) 2016 Max Brunsfeld"},
	"ruby":       {"MIT", "Copyright (c) 2016 Rob Rix"},
	"rust":       {"MIT", "Copyright (c) 2017 Maxim Sokolov"},
	"scala":      {"MIT", "Copyright (c) 2018 Max Brunsfeld and GitHub"},
	"sql":        {"MIT", "Copyright (c) 2021 Derek Stride"},
	"swift":      {"MIT", "Copyright (c) 2021 alex-pinkus"},
	"toml":       {"MIT", "Copyright (c) Ika <ikatyang@gmail.com> (https://github.com/ikatyang)"},
	"typescript": {"MIT", "Copyright (c) 2017 Max Brunsfeld"},
	"yaml":       {"MIT", "Copyright (c) Ika <ikatyang@gmail.com> (https://github.com/ikatyang)"},
}

// carried are the parts that the module carries in C, nil for most.
func (m module) carried() ([]module, error) {
	switch m.Path {
	case "github.com/smacker/go-tree-sitter":
		return m.treeSitter()
	case "github.com/mattn/go-sqlite3":
		return m.sqlite()
	}
	return nil, nil
}

// treeSitter are the runtime, which the binding carries with ICU's headers, and the grammars
// of the packages that are linked. The binding notes which commit each came from.
func (m module) treeSitter() ([]module, error) {
	raw, err := os.ReadFile(filepath.Join(m.Dir, "_automation", "grammars.json"))
	if err != nil {
		return nil, fmt.Errorf("read where the grammars are from: %w", err)
	}
	var sources []struct{ Language, URL, Reference, Revision string }
	if err := json.Unmarshal(raw, &sources); err != nil {
		return nil, fmt.Errorf("read where the grammars are from: %w", err)
	}
	// The binding names no release of the runtime, so that its own version stands for it.
	parts := []module{
		{Path: "tree-sitter", Version: m.Version, PURL: "pkg:generic/tree-sitter@" + m.Version, notice: notice{"MIT", "Copyright (c) 2018-2023 Max Brunsfeld"}},
		{Path: "icu-headers", Version: m.Version, PURL: "pkg:generic/icu-headers@" + m.Version, notice: notice{"Unicode-3.0", "Copyright (C) 1999-2015, International Business Machines Corporation and others.\nCopyright © 2016 and later: Unicode, Inc. and others."}},
	}
	seen := map[string]bool{}
	for _, dir := range m.packages {
		rel, err := filepath.Rel(m.Dir, dir)
		if err != nil {
			return nil, err
		}
		language, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		if language == "." || seen[language] {
			continue
		}
		seen[language] = true
		part := module{notice: grammars[language]}
		for _, s := range sources {
			if s.Language == language {
				part.Path, part.Version = strings.TrimPrefix(s.URL, "https://"), s.Revision
				part.PURL = "pkg:github/" + strings.TrimPrefix(part.Path, "github.com/") + "@" + s.Revision
			}
		}
		if part.licence == "" || part.Path == "" {
			return nil, fmt.Errorf("the grammar %s has no licence or no origin noted: add what its repository says to testdata/supply/parts.go", language)
		}
		parts = append(parts, part)
	}
	return parts, nil
}

var sqliteVersion = regexp.MustCompile(`(?m)^#define SQLITE_VERSION +"(.*)"$`)

// blessing is how SQLite's source begins.
var blessing = regexp.MustCompile(`(?s)The author disclaims copyright.*?more than you give\.`)

func (m module) sqlite() ([]module, error) {
	source, err := os.ReadFile(filepath.Join(m.Dir, "sqlite3-binding.c"))
	if err != nil {
		return nil, err
	}
	version, text := sqliteVersion.FindSubmatch(source), blessing.Find(source)
	if version == nil || text == nil {
		return nil, fmt.Errorf("SQLite's source in %s names no version or no terms", m.Dir)
	}
	n := notice{"blessing", strings.ReplaceAll(string(text), "\n**", "\n")}
	return []module{{Path: "sqlite", Version: string(version[1]), PURL: "pkg:generic/sqlite@" + string(version[1]), notice: n}}, nil
}

// text is a part's notice, with the terms in full.
func (n notice) text() (string, error) {
	if n.licence == "blessing" { // no terms but itself
		return n.copyright, nil
	}
	if n.licence == "Apache-2.0" {
		return n.copyright + "\n\nThe Apache License, version 2.0: its text is quarry's own, in this file under quarry.", nil
	}
	text, err := terms.ReadFile("licences/" + n.licence + ".txt")
	if err != nil {
		return "", err
	}
	return n.copyright + "\n\n" + strings.TrimSpace(string(text)), nil
}
