// Command quarry is a local coding assistant: a language server and, as
// subcommands over the same core, a command line.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
