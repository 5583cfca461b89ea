package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/index"
	"quarry/lsp"
	"quarry/lsp/wire"
)

func (a *app) lspCommand() *cobra.Command {
	var listen, tokenFile string
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Run the language server on standard input and output",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			index.Responsive()
			if a.LogLevel == "" {
				s, _ := a.Settings()
				if err := a.SetLogLevel(s.LogLevel); err != nil {
					return err
				}
			}
			pipe := newLogPipe(a.Stderr)
			defer pipe.Close()
			a.LogTo(pipe)
			if listen != "" {
				return a.listen(cmd.Context(), listen, tokenFile)
			}
			if cli.OnTerminal(a.Stderr) && cli.OnTerminal(a.Stdout) {
				fmt.Fprintln(a.Stderr, "quarry: waiting for an editor on standard input (end with Ctrl+D). `quarry help` lists the commands.")
			}
			a.Serves(cli.ExitFailed)
			opts := a.serverOptions(false)
			opts.Ending = a.Ending
			if code := lsp.Serve(cmd.Context(), standardStreams(a.Stdin, a.Protocol), opts); code != 0 {
				return cli.ErrSilent
			}
			return nil
		},
	}
	cmd.Flags().Bool("stdio", true, "speak on standard input and output; the default, accepted because editors pass it")
	cmd.Flags().StringVar(&listen, "listen", "", "listen on `ADDRESS` instead, one editor at a time, for debugging; the editor must send a token, which is printed")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "with --listen: `FILE` with the token that the editor must send as \"Authorization: Bearer ...\" in its first message's header")
	return cmd
}

// stdio is the two standard streams as one connection.
type stdio struct {
	io.Reader
	io.Writer
}

func standardStreams(in io.Reader, out io.Writer) stdio {
	if f, ok := in.(*os.File); ok {
		in = polled(f)
	}
	if f, ok := out.(*os.File); ok { // it may be the same socket
		out = polled(f)
	}
	return stdio{in, out}
}

// Close closes what can be closed, so that a blocked read ends where the
// platform allows it.
func (s stdio) Close() error {
	var errs []error
	for _, stream := range []any{s.Reader, s.Writer} {
		if c, ok := stream.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// listen serves one editor after the other on a TCP address until ctx ends.
func (a *app) listen(ctx context.Context, address, tokenFile string) error {
	opts := a.serverOptions(false)
	opts.Strict = true
	opts.Token = rand.Text()
	if tokenFile != "" {
		raw, err := os.ReadFile(tokenFile)
		if err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
		if opts.Token = strings.TrimSpace(string(raw)); opts.Token == "" {
			return fmt.Errorf("--token-file: %s is empty; put a long random text into it", tokenFile)
		}
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w: --listen %q is not HOST:PORT", cli.ErrUsage, address)
	}
	if ip := net.ParseIP(host); (ip == nil || !ip.IsLoopback()) && host != "localhost" && tokenFile == "" {
		return fmt.Errorf("%w: --listen %s is open to other machines; use 127.0.0.1 or give a --token-file", cli.ErrUsage, address)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	defer listener.Close()
	fmt.Fprintf(a.Stderr, "quarry: listening on %s\n", listener.Addr())
	if tokenFile == "" {
		fmt.Fprintf(a.Stderr, "quarry: the header of the first message must have the line Authorization: Bearer %s\n", opts.Token)
	}
	err = wire.Sessions(ctx, listener, opts.Token, a.Log, func(conn net.Conn) { lsp.Serve(ctx, conn, opts) })
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("--listen: %w", err)
}
