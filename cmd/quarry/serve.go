package main

import (
	"context"
	"net"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
	"quarry/lsp"
	"quarry/lsp/headless"
	"quarry/lsp/settings"
)

// serverOptions are those of a language server over this app's settings.
func (a *app) serverOptions(oneShot bool) lsp.Options {
	opt := engines.Options{OneShot: oneShot, Brief: oneShot, Wait: a.WaitLimit(), Incomplete: a.Lacks}
	if !oneShot {
		opt.Level = a.SetLogLevel
	}
	return lsp.Options{
		Version:  cli.Version(),
		Log:      a.Log,
		Settings: a.Settings, SettingsFile: settings.UserFilePath(),
		NewCore: func(start lsp.Start) (lsp.Core, error) {
			if oneShot { // the editor is quarry's own, and shows nothing
				start.Job = a.Job
			}
			return a.Engines(start, opt), nil
		},
	}
}

// headless starts a language server in this process and a headless editor on
// root that speaks to it. quit ends both.
func (a *app) headless(ctx context.Context, root string) (e *headless.Editor, quit func() error, err error) {
	profile, err := headless.LoadProfile("vscode")
	if err != nil {
		return nil, nil, err
	}
	client, server := net.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lsp.Serve(ctx, server, a.serverOptions(true))
	}()
	e, err = headless.Connect(ctx, client, headless.Options{Profile: profile, Root: root})
	if err != nil {
		_ = client.Close()
		<-ended
		return nil, nil, err
	}
	return e, func() error {
		_, err := e.Quit(context.WithoutCancel(ctx))
		<-ended
		return err
	}, nil
}
