package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"quarry/agent/mcp"
	"quarry/cmd/internal/cli"
	"quarry/index/store"
	"quarry/index/syntax"
	"quarry/lsp"
	"quarry/lsp/service/client"
	"quarry/retrieval/vector"
)

// versionOutput is what a report of a fault wants to know of the program.
type versionOutput struct {
	cli.Build
	Features  features  `json:"features"`
	Protocols protocols `json:"protocols"`
}

// features are what was built in, and what of it this processor can do.
type features struct {
	SQLite    string `json:"sqlite"`    // its version
	FullText  bool   `json:"full_text"` // FTS5
	Languages int    `json:"languages"` // that are read by a grammar
	Vectors   string `json:"vectors"`   // by which instructions they are compared
}

// protocols are the versions that quarry speaks.
type protocols struct {
	LSP     string   `json:"lsp"`
	MCP     []string `json:"mcp"`     // the newest first
	Service int      `json:"service"` // of `quarry serve`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, commit, platform, what was built in, and protocols",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionOutput{
				Build:     cli.ThisBuild(),
				Features:  features{Languages: syntax.Languages(), Vectors: vector.By()},
				Protocols: protocols{LSP: lsp.Version, MCP: mcp.Versions(), Service: client.Protocol},
			}
			var err error
			if v.Features.SQLite, v.Features.FullText, err = store.Engine(); err != nil {
				return fmt.Errorf("ask SQLite for its version: %w", err)
			}
			if a.JSON {
				return a.PrintJSON(v)
			}
			_, err = fmt.Fprintln(a.Stdout, v)
			return err
		},
	}
}

// String has the version in the first line, as programs expect it.
func (v versionOutput) String() string {
	fullText := "full-text search"
	if !v.Features.FullText {
		fullText = "no full-text search"
	}
	newest, oldest := v.Protocols.MCP[0], v.Protocols.MCP[len(v.Protocols.MCP)-1]
	lines := []string{
		v.Build.String(),
		fmt.Sprintf("has:    SQLite %s with %s, %d languages by grammar, vectors by %s", v.Features.SQLite, fullText, v.Features.Languages, v.Features.Vectors),
		fmt.Sprintf("speaks: LSP %s, MCP %s to %s, quarry serve %d", v.Protocols.LSP, oldest, newest, v.Protocols.Service),
	}
	if len(v.Flags) > 0 {
		lines = append(lines, "built:  "+strings.Join(v.Flags, " "))
	}
	return strings.Join(lines, "\n")
}
