package syntax

import (
	"fmt"
	"testing"
)

func TestSummary(t *testing.T) {
	for dir, want := range map[string]string{
		"go": "Package bank keeps accounts.\n" +
			"Types: Direction, Store, Account, Base, Alias, Tree.\n" +
			"Functions: Find, Deposit, empty, Map, Get, notify.\n" +
			"Also: MaxAccounts, Debit, Credit, registry, left, right.",
		"python": "Accounts and their ledger.\n" +
			"Types: Direction, Account, Savings, Portable.\n" +
			"Functions: __init__, balance, parse, transfer, main, batched, home.\n" +
			"Also: MAX_ACCOUNTS, _cache, timeout, FAST, WIDTH, HEIGHT, first, ….",
		"java":     "One customer's account.\nTypes: Account, Builder, Direction, Store, Point, Traced.\nFunctions: Account, deposit, find, size, Point, sum, value.\nAlso: MAX_ACCOUNTS, LIMIT.",
		"markdown": "Keeps accounts. See [the ledger](docs/ledger.md).\nSections: Bank, Install, Usage, Setext heading, Under the line.",
		"zig":      "Accounts and their ledger.\nTypes: Account, Direction, Header, Error.\nFunctions: init, deposit, transfer, transfer keeps the sum.\nAlso: max_accounts, counter.",
	} {
		language, src := fixture(t, dir)
		f, err := Analyze(language, src)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Summary(); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", dir, got, want)
		}
	}
}

// A file without syntax says what it is for in a doc string, where its language has such.
func TestSummaryOfADocString(t *testing.T) {
	for text, want := range map[string]string{
		"\"\"\"Rules that build\nthe bank.\n\"\"\"\n\ndef bank(name):\n  pass\n":         "Rules that build\nthe bank.",
		"# Copyright 2026 The Bank Authors.\n\n\"\"\"Rules that build the bank.\"\"\"\n": "Rules that build the bank.",
		"# How the bank is built.\n\"\"\"Rules that build the bank.\"\"\"\n":             "How the bank is built.",
		"load(\"x\")\n\n\"\"\"Rules that build the bank.\"\"\"\n":                        "",
	} {
		f, err := Analyze("starlark", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc != want {
			t.Errorf("%q says %q, want %q", text, f.Doc, want)
		}
	}
}

func TestOpening(t *testing.T) {
	for readme, want := range map[string]string{
		"# Bank\n\n[![badge](x)](y)\n\nKeeps accounts\nsafely.\n\nMore.": "Keeps accounts safely. 5-6",
		"Title\n=====\n":                                                        " 0-0",
		"Bank\n![a](b)\n====\n\nKeeps accounts.":                                "Keeps accounts. 5-5",
		"Title\n=====\n\n<p>\n\nKeeps accounts.":                                "Keeps accounts. 6-6",
		"# Bank\n\n```\n,--.\n|  | a bank that is open\n```\n\nKeeps accounts.": "Keeps accounts. 8-8",
		"# Bank\n\n> [!WARNING]\n> Nobody looks after it any more.\n> Take another.\n\nKeeps accounts.":                               "Keeps accounts. 7-7",
		"<h4>\n  <a href=\"a\">Install</a>\n  ·\n  <a href=\"b\">Docs</a>\n</h4>\n\n**Bank** keeps accounts safely.":                  "**Bank** keeps accounts safely. 7-7",
		"<p>\n  <img\n   width=\"300\"\n   src=\"a.svg\">\n  Keeps accounts.\n</p>":                                                   "Keeps accounts. 5-5",
		"<!-- Copyright of the bank.\n\nAll of it. -->\n\nKeeps accounts.":                                                            "Keeps accounts. 5-5",
		"[Bank](https://x.y) keeps the accounts safely.\n\n[a]: b \"the bank is open today\"":                                         "[Bank](https://x.y) keeps the accounts safely. 1-1",
		"[![a][b]][c]\n**[Docs](a) | [Install](b) | [API](c) | [Blog](d) | [Chat](e)**\n* one item of a list here\n\nKeeps accounts.": "Keeps accounts. 5-5",
		"**Note:** this bank is no longer open.\n\nKeeps accounts.":                                                                   "Keeps accounts. 3-3",
		"```bank``` keeps accounts safely.\n\nMore.":                                                                                  "```bank``` keeps accounts safely. 1-1",
		"# 银行\n\n快速记账工具。\n\n更多的说明在下面的文件里，请阅读。":                                                                                        "快速记账工具。 3-3",
		"✨ **Key features**\n\nKeeps accounts.":                                                                                       "Keeps accounts. 3-3",
	} {
		text, from, to := Opening(readme)
		if got := fmt.Sprintf("%s %d-%d", text, from, to); got != want {
			t.Errorf("%q begins %q, want %q", readme, got, want)
		}
	}
}
