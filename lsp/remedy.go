package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"quarry/lsp/progress"
	"quarry/lsp/settings"
	"quarry/lsp/wire"
)

// The commands that a StatusNote offers. Each is the user's own doing: no model and no
// tool can run a command. What else runs in the editor can, so none of them takes its
// word for a model that the user has not chosen.
const (
	// CommandStartOllama starts Ollama on this machine.
	CommandStartOllama = "quarry.startOllama"
	// CommandPull downloads a model: its argument is the model, without one the
	// configured one. One that neither the settings nor a StatusNote names is asked about.
	CommandPull = "quarry.pullModel"
	// CommandSetup asks once whether to fetch, try and use the models that suit this machine.
	CommandSetup = "quarry.setupModel"
	// CommandPause stops a download so that CommandResume, and the command that began it, goes on
	// where it was; CommandCancel forgets it.
	CommandPause  = "quarry.pauseDownload"
	CommandResume = "quarry.resumeDownload"
	CommandCancel = "quarry.cancelDownload"
	// CommandUse goes on with an installed model, its argument or the one that the user chooses, until
	// the server ends or, written into the user's settings, from then on.
	CommandUse = "quarry.useModel"
	// CommandIndex asks whether to index a folder that a StatusNote names, its argument or
	// the first, although it holds far more than a project, and notes a yes in the user's
	// settings.
	CommandIndex = "quarry.indexFolder"
)

// Remedies are what Core can do about a model that is not there. They wait until it
// is done.
type Remedies interface {
	StartOllama(ctx context.Context) error
	// PullModel downloads a model and tries it. It ends with ErrPaused after PauseDownload, and with a CancelledError where one
	// that was cancelled has left something.
	PullModel(ctx context.Context, name string, report Fetched) error
	// SetupModel fetches and tries the models that suit this machine, and writes them into the
	// user's settings if they work. agree is asked before, with what will be done and why. It
	// answers what was done, "" if the user did not agree.
	SetupModel(ctx context.Context, agree func(question string) bool, report Fetched) (done string, err error)
	// PauseDownload and CancelDownload end the download that is under way, if there is one; a
	// paused one shows in the status until it goes on or is cancelled, and then CancelDownload answers what it has left, nil for
	// nothing.
	PauseDownload()
	CancelDownload(ctx context.Context) (left error)
	// PausedDownload is the command that goes on with a paused download, "" if there is none, and its
	// model.
	PausedDownload() (command, name string)
	Library
}

// Fetched is told how many bytes of something are there of how many.
type Fetched func(doing string, done, total int64)

// ErrPaused ends a download that the user has paused.
var ErrPaused = errors.New("paused")

// A CancelledError ends a download that the user has cancelled, and says what it has left and what goes on with it.
type CancelledError struct{ Left error }

func (e *CancelledError) Error() string { return e.Left.Error() }

// Unwrap makes it context.Canceled.
func (e *CancelledError) Unwrap() error { return context.Canceled }

// cancelDownload ends the download that is under way, or forgets the paused one and says what it has left.
func (s *Server) cancelDownload([]protocol.LSPAny) error {
	s.task("cancel the download", func(ctx context.Context) error {
		if left := s.currentCore().CancelDownload(ctx); left != nil {
			s.assist.Screen().Say(protocol.MessageTypeInfo, left.Error())
		}
		return nil
	})
	return nil
}

// progressOf shows a download as a job, whose title names a model, or "" where it does not.
func progressOf(job Job, name string) Fetched {
	return func(doing string, done, total int64) {
		what := doing + ": "
		if verb, ok := strings.CutSuffix(doing, " "+name); ok { // the title says of what
			what = strings.TrimPrefix(verb+": ", "fetching: ")
		}
		bytes, unit := 1e9, "GB"
		if total < 1e9 {
			bytes, unit = 1e6, "MB"
		}
		job.Report(float64(done)/float64(max(total, 1)), fmt.Sprintf("%s%.1f of %.1f %s", what, float64(done)/bytes, float64(total)/bytes, unit))
	}
}

// remedy runs what a remedy's command does, shown as a job that can be cancelled.
func (s *Server) remedy(title string, do func(ctx context.Context, job Job) (result string, err error)) error {
	ctx, cancel := context.WithCancel(s.base)
	job := s.jobs.Start(progress.Asked, title, cancel)
	s.task(title, func(context.Context) error {
		defer cancel()
		result, err := do(ctx, job)
		var cancelled *CancelledError
		if errors.As(err, &cancelled) { // in a message of its own: not every editor shows how a job ended
			s.assist.Screen().Say(protocol.MessageTypeInfo, cancelled.Error())
		}
		switch {
		case errors.Is(err, ErrPaused):
			result = "paused"
		case ctx.Err() != nil, errors.Is(err, context.Canceled):
			result = "cancelled"
		case err != nil:
			result = "failed: " + err.Error() // Helix shows it in the place of what is said
			s.assist.Screen().Say(protocol.MessageTypeWarning, err.Error())
		}
		job.End(result)
		return nil
	})
	return nil
}

func (s *Server) startOllama([]protocol.LSPAny) error {
	return s.remedy("Starting Ollama", func(ctx context.Context, job Job) (string, error) {
		job.Report(0, "waiting for its first answer")
		return "started", s.currentCore().StartOllama(ctx)
	})
}

func (s *Server) pullModel(args []protocol.LSPAny) error {
	name := ""
	if len(args) > 0 {
		if err := json.Unmarshal(args[0], &name); err != nil {
			return wire.InvalidParams("the argument %s is no model's name", args[0])
		}
	}
	if name == "" {
		now, _ := s.current()
		name = now.Model
	}
	return s.remedy("Pulling "+name, func(ctx context.Context, job Job) (string, error) {
		if !s.wants(ctx, name) {
			const yes, no = "Download", "Cancel"
			job.Report(0, "waits for your choice")
			chosen, err := s.assist.Screen().Choose(ctx, fmt.Sprintf("Download the model %s? It is not the one in your settings.", name), no, yes)
			if err != nil || chosen != yes {
				return "not downloaded", err
			}
		}
		job.Report(0, "asking Ollama")
		return "pulled", s.currentCore().PullModel(ctx, name, progressOf(job, name))
	})
}

// resumeDownload goes on with the download that is paused.
func (s *Server) resumeDownload([]protocol.LSPAny) error {
	command, name := s.currentCore().PausedDownload()
	switch command {
	case "":
		s.assist.Screen().Say(protocol.MessageTypeInfo, "no download is paused; `"+CommandPull+"` begins one")
		return nil
	case CommandSetup:
		return s.setupModel(nil)
	}
	model, err := json.Marshal(name)
	if err != nil {
		return err
	}
	return s.pullModel([]protocol.LSPAny{protocol.LSPAny(model)})
}

// setupModel has the models that suit this machine set up with one yes.
func (s *Server) setupModel([]protocol.LSPAny) error {
	return s.remedy("Setting up models", func(ctx context.Context, job Job) (string, error) {
		job.Report(0, "looking at what there is")
		done, err := s.currentCore().SetupModel(ctx, func(question string) bool {
			const yes, no = "Set up", "Cancel"
			job.Report(0, "waits for your choice")
			chosen, err := s.assist.Screen().Choose(ctx, question, no, yes)
			job.Report(0, "asking Ollama")
			return err == nil && chosen == yes
		}, progressOf(job, ""))
		switch {
		case err != nil:
			return "", err
		case done == "":
			return "nothing was done", nil
		}
		s.assist.Screen().Say(protocol.MessageTypeInfo, done)
		s.mu.Lock()
		s.brief = briefModel{}
		s.mu.Unlock()
		return "set up", s.applySettings() // the user's file says it now
	})
}

// wants is whether the settings name a model, or what the user is offered does.
func (s *Server) wants(ctx context.Context, name string) bool {
	now, _ := s.current()
	return name == now.Model || name == now.Embedding.Model || slices.Contains(slices.Collect(maps.Values(now.Completion.Models)), name) ||
		slices.ContainsFunc(s.currentCore().StatusNote(ctx).Remedies, func(r Remedy) bool {
			return r.Command == CommandPull && slices.Contains(r.Arguments, name)
		})
}

// useModel goes on with a model that is installed, its argument or the one that the user chooses: until
// the server ends, or, tried and written into the user's settings, from now on.
func (s modelCommands) useModel(args []protocol.LSPAny) error {
	named, err := modelArguments(args)
	if err != nil {
		return err
	}
	return s.remedy("Another model", func(ctx context.Context, job Job) (string, error) {
		list, err := s.currentCore().Models(ctx)
		if err != nil {
			return "", err
		}
		now, _ := s.current()
		job.Report(0, "waits for your choice")
		if len(named) == 0 {
			chosen, err := s.chooseModel(ctx, list, now)
			if err != nil || chosen == "" {
				return "none chosen", err
			}
			named = []string{chosen}
		}
		m, ok := s.findModel(list, named[0])
		if !ok {
			return "", noSuchModel(named[0])
		}
		path := settings.UserFilePath()
		const no, brief, keep = "Cancel", "Until quarry ends", "From now on"
		question, choices := fmt.Sprintf("Complete code with %s until quarry ends, or from now on? The latter tries it and writes it into %s.", m.Name, path), []string{no, brief, keep}
		if m.Embeds {
			question, choices = fmt.Sprintf("Search with %s from now on? It is tried and written into %s; the code is embedded anew.", m.Name, path), []string{no, keep}
		}
		chosen, err := s.assist.Screen().Choose(ctx, question, choices...)
		switch {
		case err != nil || chosen == "" || chosen == no:
			return "not used", err
		case chosen == keep:
			job.Report(0, "trying it; reading and loading it may take a while")
			return s.keepModel(ctx, m, path)
		}
		if err := s.useUntilEnd(m.Name); err != nil {
			return "", err
		}
		if off := now.Unasked(false); off != "" {
			s.assist.Screen().Say(protocol.MessageTypeInfo, fmt.Sprintf("%s is chosen, but %s", m.Name, off))
			return m.Name, nil
		}
		s.assist.Screen().Say(protocol.MessageTypeInfo, fmt.Sprintf("%s completes code until quarry ends; choose it again to keep it", m.Name))
		return m.Name, nil
	})
}

// chooseModel has the user choose one of the installed models that is not asked yet, "" for none.
func (s modelCommands) chooseModel(ctx context.Context, list []InstalledModel, now settings.Settings) (string, error) {
	s.mu.Lock()
	brief := s.brief.name // may be chosen again, for good
	s.mu.Unlock()
	var names []string
	for _, m := range list {
		if m.Name == brief || !s.currentCore().SameModel(m.Name, now.Model) && !s.currentCore().SameModel(m.Name, now.Embedding.Model) {
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		return "", errors.New("no other model is installed: `quarry model pull NAME` fetches one")
	}
	return s.assist.Screen().Choose(ctx, "Which model shall be used? One that completes code must know fill-in-the-middle.", names[:min(len(names), mostChoices)]...)
}

// keepModel has a model tried and written into the user's settings.
func (s modelCommands) keepModel(ctx context.Context, m InstalledModel, path string) (result string, err error) {
	does, err := s.currentCore().KeepModel(ctx, m.Name)
	if err != nil {
		return "", fmt.Errorf("%s is not used: %w", m.Name, err)
	}
	said := fmt.Sprintf("%s from now on; %s says so", does, path)
	s.mu.Lock()
	s.brief = briefModel{}
	merged, _ := s.opts.Settings(s.editor[0], s.editor[1])
	s.mu.Unlock()
	if !m.Embeds && !s.currentCore().SameModel(merged.Model, m.Name) {
		said = fmt.Sprintf("%s until quarry ends; then the environment or a flag sets %s, over what %s now says", does, merged.Model, path)
		err = s.useUntilEnd(m.Name)
	} else {
		err = s.applySettings()
	}
	if err != nil {
		return "", err
	}
	if off := merged.Unasked(m.Embeds); off != "" {
		said = fmt.Sprintf("your settings name %s, but %s", m.Name, off)
	}
	s.assist.Screen().Say(protocol.MessageTypeInfo, said)
	return "kept", nil
}

// briefModel is a model that the user chose until the server ends, in place of the one that the
// settings name then: when they name another, that is the user's later word.
type briefModel struct{ name, instead string }

// useUntilEnd has a model complete code until the server ends.
func (s modelCommands) useUntilEnd(name string) error {
	s.mu.Lock()
	merged, _ := s.opts.Settings(s.editor[0], s.editor[1])
	s.brief = briefModel{name, merged.Model}
	s.mu.Unlock()
	return s.applySettings()
}

// indexFolder allows a wide folder that a StatusNote names, once the user has said so.
func (s *Server) indexFolder(args []protocol.LSPAny) error {
	var named string
	if len(args) > 0 {
		_ = json.Unmarshal(args[0], &named) // whoever names none means the first
	}
	s.task("index a wide folder", func(ctx context.Context) error {
		var dir string
		for _, r := range s.currentCore().StatusNote(ctx).Remedies {
			if r.Command == CommandIndex && (dir == "" || r.Arguments[0] == named) {
				dir = r.Arguments[0]
			}
		}
		if dir == "" {
			s.assist.Screen().Say(protocol.MessageTypeInfo, "every folder of the workspace is indexed already")
			return nil
		}
		const yes, no = "Index it", "Cancel"
		chosen, err := s.assist.Screen().Choose(ctx, fmt.Sprintf("Index %s? It is much larger than one project, and quarry reads all of it except private and excluded files.", dir), no, yes)
		if err != nil || chosen != yes {
			return err
		}
		now, _ := s.current()
		path := settings.UserFilePath()
		if err := settings.SetInFile(path, "index.wideFolders", append(slices.Clone(now.Index.WideFolders), dir)); err != nil {
			s.assist.Screen().Say(protocol.MessageTypeWarning, err.Error())
			return nil
		}
		s.assist.Screen().Say(protocol.MessageTypeInfo, fmt.Sprintf("%s is indexed from now on; index.wideFolders in %s says so", dir, path))
		return s.applySettings()
	})
	return nil
}
