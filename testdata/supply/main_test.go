package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// All that is linked into quarry has a licence, and stands in the bill of materials.
func TestLinked(t *testing.T) {
	list, err := linked("quarry/cmd/quarry")
	if err != nil {
		t.Fatal(err)
	}
	var licences, bill, again bytes.Buffer
	if err := writeLicences(&licences, list); err != nil {
		t.Error(err)
	}
	if err := writeSBOM(&bill, list); err != nil {
		t.Fatal(err)
	}
	if err := writeSBOM(&again, list); err != nil || bill.String() != again.String() {
		t.Errorf("another bill of the same modules: %v", err)
	}
	var doc struct {
		BOMFormat  string
		Components []component
	}
	if err := json.Unmarshal(bill.Bytes(), &doc); err != nil || doc.BOMFormat != "CycloneDX" || len(doc.Components) != len(list)-1 {
		t.Errorf("%d components of %d modules, %v", len(doc.Components), len(list), err)
	}
	// Modules, and what they carry in C of others.
	for _, path := range []string{"std", "github.com/mattn/go-sqlite3", "github.com/smacker/go-tree-sitter", "tree-sitter", "icu-headers", "sqlite",
		"github.com/tree-sitter/tree-sitter-go", "github.com/tree-sitter/tree-sitter-typescript", "github.com/tjdevries/tree-sitter-lua"} {
		if !strings.Contains(licences.String(), "==== "+path+" ") || !strings.Contains(bill.String(), `"name": "`+path+`"`) {
			t.Errorf("%s is missing", path)
		}
	}
}

// make build asks for what make hardened checks in CI.
func TestBuildIsHardened(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the flags are Linux's")
	}
	cmd := exec.Command("make", "-n", "build")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"-buildmode=pie", "-z,now", "-z,relro", "_FORTIFY_SOURCE=2", "-fstack-protector-strong"} {
		if !strings.Contains(string(out), flag) {
			t.Errorf("make build lacks %s: %s", flag, out)
		}
	}
}

func TestVulnerabilities(t *testing.T) {
	for script, ok := range map[string]bool{
		"exit 0": true, "echo 'fetching: dial tcp: lookup x: no such host' >&2; exit 1": true, "echo 'Vulnerability #1'; exit 3": false,
		"echo 'exit status 3; dial tcp'; exit 1": false, "echo 'does not compile'; exit 1": false,
	} {
		if err := vulnerabilities([]string{"sh", "-c", script}); (err == nil) != ok {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// Every grammar that the parser knows has its licence and its origin, and one that nobody
// noted stops a release.
func TestCarried(t *testing.T) {
	list, err := linked("quarry/index/syntax")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(m module) bool { return m.Path == "github.com/smacker/go-tree-sitter" })
	binding := list[i]
	parts, err := binding.carried()
	if err != nil {
		t.Fatal(err)
	}
	if want := len(grammars) + len([]string{"tree-sitter", "icu-headers"}); len(parts) != want {
		t.Errorf("%d parts, want %d: a grammar in the table is linked no more, or twice", len(parts), want)
	}
	for _, p := range parts {
		text, err := p.text()
		if err != nil || len(text) < 100 || p.Version == "" {
			t.Errorf("%s %q: %q, %v", p.Path, p.Version, text, err)
		}
	}
	binding.packages = append(binding.packages, filepath.Join(binding.Dir, "cue"))
	if _, err := binding.carried(); err == nil || !strings.Contains(err.Error(), "cue") {
		t.Errorf("a grammar without a licence: %v", err)
	}
}
