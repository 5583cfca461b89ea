package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"quarry/index/process"
	"quarry/lsp/assist"
	"quarry/lsp/document"
	"quarry/lsp/text"
	"quarry/lsp/wire"
)

// phase is where the lifecycle stands (LSP, Server lifecycle).
type phase int32

const (
	uninitialized phase = iota
	running
	shutDown
)

// Initialize implements the initialize request.
func (s *Server) Initialize(_ context.Context, params *protocol.InitializeParams) (*protocol.InitializeResult, error) {
	s.clientCaps = params.Capabilities
	s.encoding = negotiateEncoding(params.Capabilities.General)
	s.clientName = strings.Clone(params.ClientInfo.Name)
	s.showsInline = showsInline(params)
	s.assist.Initialize(s.clientCaps, s.encoding)
	s.jobs.Initialize(s.clientCaps)
	s.search.Initialize(s.clientCaps)
	if params.Trace != "" {
		s.trace.Store(params.Trace)
	}
	s.mu.Lock()
	s.roots = rootsOf(params, document.Platform())
	s.editor[0] = slices.Clone(params.InitializationOptions)
	s.mu.Unlock()
	s.fileAtStart = stampOf(s.opts.SettingsFile)
	if err := s.applySettings(); err != nil {
		return nil, err
	}
	now, roots := s.current()
	core, err := s.opts.NewCore(Start{Settings: now, Roots: roots, Watch: !s.reportsFiles(), Notify: s.notify, Job: s.startJob, Changed: s.statusChanged, Problems: s.assist.Problems,
		Staging: s.staging, Apply: s.assist.ApplyConfirmed})
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	s.mu.Lock()
	s.core = core
	s.mu.Unlock()
	if params.ProcessID != nil && *params.ProcessID > 0 {
		s.watchProcess(int(*params.ProcessID))
	}
	s.phase.Store(int32(running))
	return &protocol.InitializeResult{
		Capabilities: s.capabilities(),
		ServerInfo:   protocol.ServerInfo{Name: "quarry", Version: protocol.NewOptional(s.opts.Version)},
	}, nil
}

// capabilities announces what is served, statically, because no client fails to
// honour that.
func (s *Server) capabilities() protocol.ServerCapabilities {
	yes, incremental := true, protocol.TextDocumentSyncKindIncremental
	caps := protocol.ServerCapabilities{
		PositionEncoding: protocol.PositionEncodingKind(s.encoding),
		TextDocumentSync: &protocol.TextDocumentSyncOptions{
			OpenClose: &yes,
			Change:    &incremental,
			Save:      protocol.Boolean(true),
		},
		InlineCompletionProvider: protocol.Boolean(true),
		CodeActionProvider:       &protocol.CodeActionOptions{CodeActionKinds: assist.CodeActionKinds},
		HoverProvider:            protocol.Boolean(true),
		ExecuteCommandProvider:   protocol.ExecuteCommandOptions{Commands: s.commandNames()},
		Workspace: &protocol.WorkspaceOptions{
			WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
				Supported:           &yes,
				ChangeNotifications: protocol.Boolean(true),
			},
			FileOperations:      fileOperations(),
			TextDocumentContent: &protocol.TextDocumentContentOptions{Schemes: []string{assist.VirtualScheme}},
		},
	}
	if !s.showsInline {
		caps.CompletionProvider = &protocol.CompletionOptions{TriggerCharacters: popupTriggers}
	}
	return caps
}

// negotiateEncoding takes the first encoding of the client's list that quarry
// knows, since the client put its cheapest first; without a list it is utf-16.
func negotiateEncoding(general *protocol.GeneralClientCapabilities) text.Encoding {
	if general == nil {
		return text.UTF16
	}
	for _, kind := range general.PositionEncodings {
		switch enc := text.Encoding(kind); enc {
		case text.UTF8, text.UTF16, text.UTF32:
			return enc
		}
	}
	return text.UTF16
}

// rootsOf are the workspace folders as file paths: workspaceFolders, or what
// older clients send instead.
func rootsOf(params *protocol.InitializeParams, on uri.Platform) []string {
	var roots []string
	if folders, ok := params.WorkspaceFolders.Get(); ok {
		for _, f := range folders {
			if f.URI.IsFile() {
				roots = append(roots, document.PathFor(f.URI, on))
			}
		}
		return roots
	}
	if params.RootURI != nil && params.RootURI.IsFile() {
		return []string{document.PathFor(*params.RootURI, on)}
	}
	if path, ok := params.RootPath.Get(); ok && path != "" {
		return []string{document.PathFor(uri.FileFor(on, path), on)}
	}
	return nil
}

// Initialized implements the initialized notification: what needs a round trip
// to the client begins here.
func (s *Server) Initialized(context.Context, *protocol.InitializedParams) error {
	if w := s.clientCaps.Workspace; w != nil {
		if w.DidChangeConfiguration != nil && w.DidChangeConfiguration.DynamicRegistration != nil && *w.DidChangeConfiguration.DynamicRegistration {
			s.task("register didChangeConfiguration", func(ctx context.Context) error {
				return s.client.RegisterCapability(ctx, &protocol.RegistrationParams{Registrations: []protocol.Registration{{
					ID:              "quarry-configuration",
					Method:          protocol.MethodWorkspaceDidChangeConfiguration,
					RegisterOptions: protocol.LSPAny(`{"section":"quarry"}`),
				}}})
			})
		}
		s.pullConfiguration()
	}
	if s.opts.SettingsFile != "" {
		s.task("follow the settings file", func(ctx context.Context) error { return s.followSettingsFile(ctx, s.fileAtStart) })
	}
	if assist.ExtensionsOf(s.clientCaps).Status {
		s.task("report the status", s.notifyStatus)
	}
	if s.reportsFiles() {
		s.task("register didChangeWatchedFiles", s.registerFiles)
	}
	return nil
}

// registerFiles asks the client to report changes on disk. What changed after the
// folders were opened and before the client began to look, nobody has reported.
func (s *Server) registerFiles(ctx context.Context) error {
	err := s.client.RegisterCapability(ctx, &protocol.RegistrationParams{Registrations: []protocol.Registration{{
		ID:              "quarry-files",
		Method:          protocol.MethodWorkspaceDidChangeWatchedFiles,
		RegisterOptions: protocol.LSPAny(`{"watchers":[{"globPattern":"**/*"}]}`),
	}}})
	if err != nil {
		if ctx.Err() == nil {
			s.currentCore().WatchFiles()
		}
		return err
	}
	_, roots := s.current()
	s.currentCore().FilesChanged(roots)
	return nil
}

// DidChangeConfiguration implements workspace/didChangeConfiguration. Clients
// that answer workspace/configuration are asked, since many send nothing or
// everything here.
func (s *Server) DidChangeConfiguration(_ context.Context, params *protocol.DidChangeConfigurationParams) error {
	if s.pullConfiguration() {
		return nil
	}
	s.mu.Lock()
	s.editor[1] = slices.Clone(params.Settings)
	s.mu.Unlock()
	return s.applySettings()
}

// pullConfiguration asks the client for its settings and applies them; it
// answers false when the client cannot be asked.
func (s *Server) pullConfiguration() bool {
	w := s.clientCaps.Workspace
	if w == nil || w.Configuration == nil || !*w.Configuration {
		return false
	}
	s.mu.Lock()
	s.pull++
	pull := s.pull
	s.mu.Unlock()
	s.task("pull configuration", func(ctx context.Context) error {
		section := "quarry"
		values, err := s.client.Configuration(ctx, &protocol.ConfigurationParams{Items: []protocol.ConfigurationItem{{Section: &section}}})
		if err != nil {
			return err
		}
		s.mu.Lock()
		if pull != s.pull { // a newer pull is under way and knows better
			s.mu.Unlock()
			return nil
		}
		s.editor[1] = nil
		if len(values) > 0 {
			s.editor[1] = slices.Clone(values[0])
		}
		s.mu.Unlock()
		return s.applySettings()
	})
	return true
}

// DidChangeWorkspaceFolders implements workspace/didChangeWorkspaceFolders.
func (s *Server) DidChangeWorkspaceFolders(_ context.Context, params *protocol.DidChangeWorkspaceFoldersParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	roots := slices.Clone(s.roots)
	for _, f := range params.Event.Removed {
		roots = slices.DeleteFunc(roots, func(r string) bool { return f.URI.IsFile() && r == document.Path(f.URI) })
	}
	for _, f := range params.Event.Added {
		if f.URI.IsFile() && !slices.Contains(roots, document.Path(f.URI)) {
			roots = append(roots, document.Path(f.URI))
		}
	}
	s.roots = roots
	s.core.SetRoots(roots)
	s.statusChanged()
	return nil
}

// SetTrace implements $/setTrace.
func (s *Server) SetTrace(_ context.Context, params *protocol.SetTraceParams) error {
	switch params.Value {
	case protocol.TraceValueOff, protocol.TraceValueMessages, protocol.TraceValueVerbose:
		s.trace.Store(params.Value)
		return nil
	}
	return fmt.Errorf("trace value %q must be off, messages or verbose", params.Value)
}

// Shutdown implements the shutdown request.
func (s *Server) Shutdown(context.Context) error {
	s.phase.Store(int32(shutDown))
	s.inline.CancelAll()
	s.assist.Cancel()
	return nil
}

// Exit implements the exit notification.
func (s *Server) Exit(context.Context) error {
	select {
	case <-s.exit: // sent twice
	default:
		close(s.exit)
	}
	s.cancel() // so that the read loop does not begin another read
	return nil
}

// watchProcess closes gone when the process with that id is no more: a client
// that was killed may leave the pipe open in a child of its own.
func (s *Server) watchProcess(pid int) {
	s.task("watch the client's process", func(ctx context.Context) error {
		if process.Await(ctx, pid) {
			close(s.gone)
		}
		return nil
	})
}

var errDropped = fmt.Errorf("not allowed in this phase of the connection: %w", jsonrpc2.ErrInvalidRequest)

// admit answers why the lifecycle forbids a message, nil if it does not.
func (s *Server) admit(method string, isCall bool) error {
	if method == protocol.MethodExit {
		return nil
	}
	switch phase(s.phase.Load()) {
	case uninitialized:
		switch {
		case method == protocol.MethodInitialize:
			return nil
		case isCall:
			return jsonrpc2.NewError(wire.CodeServerNotInitialized, "the server waits for initialize")
		}
		return errDropped
	case shutDown:
		if isCall {
			return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the server is shut down; only exit may follow")
		}
		return errDropped
	}
	if method == protocol.MethodInitialize {
		return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "initialize may be sent only once")
	}
	return nil
}

// traceHandled sends $/logTrace as $/setTrace asks.
func (s *Server) traceHandled(method string, isCall bool, took time.Duration, err error) {
	if s.trace.Load() == protocol.TraceValueOff || strings.HasPrefix(method, "$/") {
		return
	}
	kind := "notification"
	if isCall {
		kind = "request"
	}
	params := &protocol.LogTraceParams{Message: fmt.Sprintf("%s %s handled in %.1f ms", kind, method, float64(took.Microseconds())/1000)}
	if err != nil && s.trace.Load() == protocol.TraceValueVerbose {
		text := err.Error()
		params.Verbose = &text
	}
	if err := s.client.LogTrace(s.base, params); err != nil && s.base.Err() == nil {
		s.log.Error("log trace", "error", err)
	}
}
