package syntax

import (
	"slices"
	"testing"

	"quarry/index/lang"
)

// TestPlainLanguages reads one small text of each family that is read by lines.
func TestPlainLanguages(t *testing.T) {
	for _, c := range []struct {
		language, src    string
		symbols, imports []string
	}{
		{"ocaml", "open Base\n\nlet rec length xs = open_in xs\n\nmodule Store = struct\n  let find id = id\nend\n",
			[]string{"function length", "module Store", "function find in Store"}, []string{"Base"}},
		{"dart", "import 'dart:io';\n\nabstract class Store {\n  static const limit = 3;\n}\n\nenum State { open }\n",
			[]string{"class Store", "const limit in Store", "enum State"}, []string{"dart:io"}},
		{"julia", "using Base\n\nmutable struct Account\n  owner\nend\n\nfunction deposit!(a, n)\n  a\nend\n",
			[]string{"struct Account", "function deposit!"}, []string{"Base"}},
		{"clojure", "(ns bank.core)\n\n; Adds.\n(defn deposit [a n]\n  (+ a n))\n\n(def limit 3)\n",
			[]string{"module bank.core", "function deposit", "var limit"}, nil},
		{"solidity", "import \"./Token.sol\";\n\ncontract Bank is Token {\n    function deposit(uint amount) public {\n    }\n}\n",
			[]string{"class Bank", "method deposit in Bank"}, []string{"./Token.sol"}},
		{"graphql", "type Account {\n  owner: String\n}\n\nenum State { OPEN }\n",
			[]string{"struct Account", "enum State"}, nil},
		{"r", "library(stats)\n\ndeposit <- function(a, n) {\n  a + n\n}\n",
			[]string{"function deposit"}, []string{"stats"}},
		{"powershell", "function Get-Account {\n  param($id)\n}\n", []string{"function Get-Account"}, nil},
		{lang.PlainText, "function of the bank\n", nil, nil},
	} {
		f := checkFile(t, c.language, []byte(c.src))
		var symbols, imports []string
		for _, s := range f.Symbols {
			name := string(s.Kind) + " " + s.Name
			if s.Container != "" {
				name += " in " + s.Container
			}
			symbols = append(symbols, name)
		}
		for _, i := range f.Imports {
			imports = append(imports, i.Path)
		}
		if !slices.Equal(symbols, c.symbols) {
			t.Errorf("%s: symbols %q, want %q", c.language, symbols, c.symbols)
		}
		if !slices.Equal(imports, c.imports) {
			t.Errorf("%s: imports %q, want %q", c.language, imports, c.imports)
		}
	}
}
