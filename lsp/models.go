package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"quarry/agent/markdown"
	"quarry/lsp/wire"
)

// The commands that look after installed models, as `quarry model` does in a terminal. As
// with a StatusNote's commands the user is asked before anything is written or deleted.
const (
	// CommandList shows the models that Ollama has.
	CommandList = "quarry.listModels"
	// CommandVerify tries a model, its argument or the configured one, and shows what was found.
	CommandVerify = "quarry.verifyModel"
	// CommandImport gives Ollama the model of a GGUF file: its arguments are the file and, if it is to
	// be another than the file's, the model's name. Without one the user chooses among those in the folder for downloads.
	CommandImport = "quarry.importModel"
	// CommandRemove deletes a model, its argument or the one that the user chooses.
	CommandRemove = "quarry.removeModel"
)

// modelCommands does what the commands on installed models ask for.
type modelCommands struct{ *Server }

// Library is the models that are installed. All methods wait until they are done.
type Library interface {
	Models(ctx context.Context) ([]InstalledModel, error)
	// LeftOfDownloads is what was ended or failed, each in words with what to do about it.
	LeftOfDownloads(ctx context.Context) ([]string, error)
	// KnownModels are those of the catalogue, and a sentence on which suits this machine.
	KnownModels(ctx context.Context) (list []KnownModel, advice string, err error)
	// VerifyModel tries a model in every way that its use needs.
	VerifyModel(ctx context.Context, name string) ([]ModelFinding, error)
	// ImportModel makes a model of a GGUF file and tries it before it has its name.
	ImportModel(ctx context.Context, file, name string, report Fetched) error
	RemoveModel(ctx context.Context, name string) error
	// SameModel is whether two names are one model's to Ollama.
	SameModel(a, b string) bool
	// KeepModel tries an installed model and, if it works, writes it into the user's settings. It
	// answers what the model does from then on.
	KeepModel(ctx context.Context, name string) (does string, err error)
}

// InstalledModel is a model in words.
type InstalledModel struct {
	Name, Size, Quant, InMemory string
	// Used says for what quarry asks it, "" if for nothing.
	Used string
	// Embeds: it is for search, and completes nothing.
	Embeds bool
}

// findModel is the model of a name, as a user may write it.
func (s modelCommands) findModel(list []InstalledModel, name string) (m InstalledModel, ok bool) {
	at := slices.IndexFunc(list, func(m InstalledModel) bool { return s.currentCore().SameModel(m.Name, name) })
	if at < 0 {
		return m, false
	}
	return list[at], true
}

func noSuchModel(name string) error {
	return fmt.Errorf("Ollama has no model %s: `%s` shows what it has", name, CommandList)
}

// KnownModel is a model of the catalogue in words.
type KnownModel struct {
	Name, Use, Download, Memory, Licence, About string
}

// ModelFinding is one thing that was looked at of a model.
type ModelFinding struct {
	Name string
	OK   bool
	// Note: it works, and is not what was expected.
	Note bool
	// Detail is what was found, Fix what to do about it, "" if nothing.
	Detail, Fix string
}

// modelArguments are those of a command, each a text.
func modelArguments(args []protocol.LSPAny) ([]string, error) {
	var list []string
	for _, raw := range args {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, wire.InvalidParams("the argument %s is no text", raw)
		}
		if text != "" {
			list = append(list, text)
		}
	}
	return list, nil
}

// mostChoices is how many answers a question has at most: editors show them in a row.
const mostChoices = 8

func (s modelCommands) listModels([]protocol.LSPAny) error {
	return s.remedy("Listing models", func(ctx context.Context, _ Job) (string, error) {
		list, err := s.currentCore().Models(ctx)
		if err != nil {
			return "", err
		}
		known, advice, err := s.currentCore().KnownModels(ctx)
		if err != nil {
			return "", err
		}
		left, err := s.currentCore().LeftOfDownloads(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d models", len(list)), s.assist.Screen().Show("models", modelsPage(list)+leftPage(left)+cataloguePage(known, advice))
	})
}

// modelsPage is a table of models in Markdown.
func modelsPage(list []InstalledModel) string {
	var b strings.Builder
	b.WriteString("# Models that Ollama has\n\n")
	if len(list) == 0 {
		b.WriteString("None. `quarry.setupModel` fetches the ones that suit this machine.\n")
		return b.String()
	}
	b.WriteString("| model | size | weights | in memory | quarry uses it for |\n|---|---|---|---|---|\n")
	for _, m := range list {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", markdown.Cell(m.Name), markdown.Cell(m.Size), markdown.Cell(m.Quant), markdown.Cell(m.InMemory), markdown.Cell(m.Used))
	}
	b.WriteString("\n`quarry.useModel`, `quarry.verifyModel`, `quarry.importModel` and `quarry.removeModel` look after them; so does `quarry model` in a terminal.\n")
	return b.String()
}

// leftPage lists what downloads have left, in Markdown; nothing where nothing is.
func leftPage(left []string) string {
	if len(left) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n# Left of downloads\n\n")
	for _, line := range left {
		fmt.Fprintf(&b, "- %s\n", markdown.Inline(line))
	}
	return b.String()
}

// cataloguePage is a table of models that may be fetched, in Markdown.
func cataloguePage(list []KnownModel, advice string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n# Models that are known to serve\n\n%s `%s` fetches what suits, `%s` one of these.\n\n", markdown.Inline(advice), CommandSetup, CommandPull)
	b.WriteString("| model | for | fetches | takes | licence | |\n|---|---|---|---|---|---|\n")
	for _, m := range list {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", markdown.Cell(m.Name), markdown.Cell(m.Use), markdown.Cell(m.Download), markdown.Cell(m.Memory), markdown.Cell(m.Licence), markdown.Cell(m.About))
	}
	return b.String()
}

func (s modelCommands) verifyModel(args []protocol.LSPAny) error {
	names, err := modelArguments(args)
	if err != nil {
		return err
	}
	now, _ := s.current()
	names = append(names, now.Model)
	return s.remedy("Trying "+names[0], func(ctx context.Context, job Job) (string, error) {
		job.Report(0, "reading and loading it may take a while")
		findings, err := s.currentCore().VerifyModel(ctx, names[0])
		if err != nil {
			return "", err
		}
		result := "it works"
		if slices.ContainsFunc(findings, func(f ModelFinding) bool { return !f.OK }) {
			result = "something is wrong"
		}
		return result, s.assist.Screen().Show("model", findingsPage(names[0], findings))
	})
}

func findingsPage(name string, findings []ModelFinding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", markdown.Inline(name))
	for _, f := range findings {
		mark := "ok"
		switch {
		case !f.OK:
			mark = "**wrong**"
		case f.Note:
			mark = "**note**"
		}
		fmt.Fprintf(&b, "- %s: %s, %s\n", markdown.Inline(f.Name), mark, markdown.Inline(f.Detail))
		if f.Fix != "" {
			fmt.Fprintf(&b, "  - what to do: %s\n", markdown.Inline(f.Fix))
		}
	}
	return b.String()
}

func (s modelCommands) removeModel(args []protocol.LSPAny) error {
	named, err := modelArguments(args)
	if err != nil {
		return err
	}
	return s.remedy("Deleting a model", func(ctx context.Context, job Job) (string, error) {
		list, err := s.currentCore().Models(ctx)
		if err != nil {
			return "", err
		}
		job.Report(0, "waits for your choice")
		if len(named) == 0 && len(list) > 0 {
			var names []string
			for _, m := range list {
				names = append(names, m.Name)
			}
			chosen, err := s.assist.Screen().Choose(ctx, "Which model shall be deleted?", names[:min(len(names), mostChoices)]...)
			if err != nil || chosen == "" {
				return "none chosen", err
			}
			named = []string{chosen}
		}
		if len(named) == 0 {
			return "", fmt.Errorf("Ollama has no models; `%s` fetches some", CommandSetup)
		}
		m, ok := s.findModel(list, named[0])
		if !ok {
			return "", noSuchModel(named[0])
		}
		question := fmt.Sprintf("Delete %s (%s)?", m.Name, m.Size)
		if m.Used != "" {
			question += " quarry uses it for " + m.Used + "."
		}
		const yes, no = "Delete", "Cancel"
		if chosen, err := s.assist.Screen().Choose(ctx, question, no, yes); err != nil || chosen != yes {
			return "not deleted", err
		}
		if err := s.currentCore().RemoveModel(ctx, m.Name); err != nil {
			return "", err
		}
		s.assist.Screen().Say(protocol.MessageTypeInfo, fmt.Sprintf("Deleted %s; freed up to %s (files that other models share stay)", m.Name, m.Size))
		return "deleted", nil
	})
}

func (s modelCommands) importModel(args []protocol.LSPAny) error {
	named, err := modelArguments(args)
	if err != nil {
		return err
	}
	return s.remedy("Importing a model", func(ctx context.Context, job Job) (string, error) {
		job.Report(0, "waits for your choice")
		if len(named) == 0 {
			files := downloaded()
			if len(files) == 0 {
				return "", fmt.Errorf("no GGUF file is in your folder for downloads: give %s the path of one", CommandImport)
			}
			chosen, err := s.assist.Screen().Choose(ctx, "Which file's model shall Ollama have?", files...)
			if err != nil || chosen == "" {
				return "none chosen", err
			}
			named = []string{chosen}
		}
		file, err := s.fileOf(named[0])
		if err != nil {
			return "", err
		}
		name := ModelNameOf(file)
		if len(named) > 1 {
			name = named[1]
		}
		const yes, no = "Import", "Cancel"
		chosen, err := s.assist.Screen().Choose(ctx, fmt.Sprintf("Give Ollama the model in %s as %s? It is tried first, and takes the file's size of disk once more.", file, name), no, yes)
		if err != nil || chosen != yes {
			return "not imported", err
		}
		if err := s.currentCore().ImportModel(ctx, file, name, progressOf(job, "")); err != nil {
			return "", err
		}
		s.assist.Screen().Say(protocol.MessageTypeInfo, fmt.Sprintf("Ollama has %s; `%s` completes code with it", name, CommandUse))
		return "imported", nil
	})
}

// ModelNameOf is a name that Ollama takes for the model of a file.
func ModelNameOf(file string) string {
	const longest = 80 // of a name to Ollama, in bytes
	base := filepath.Base(file)
	words := strings.FieldsFunc(strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base))), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-')
	})
	name := strings.Trim(strings.Join(words, "-"), "-.")
	return strings.TrimRight(cmp.Or(name[:min(len(name), longest)], "model"), "-.")
}

// downloaded are the GGUF files in the user's folder for downloads, the newest first.
func downloaded() (files []string) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(home, "Downloads", "*.gguf"))
	if err != nil {
		return nil // the folder's name is no pattern
	}
	changed := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortStableFunc(found, func(a, b string) int { return int(min(max(changed(b)-changed(a), -1), 1)) })
	return found[:min(len(found), mostChoices)]
}

// fileOf is the path that a user means: whole, below the home folder, or below a folder of the
// workspace.
func (s modelCommands) fileOf(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~"+string(filepath.Separator)); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(home, rest), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	_, roots := s.current()
	for _, root := range roots {
		at := filepath.Join(root, path)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
			return at, nil
		}
	}
	return "", fmt.Errorf("there is no file %s here: give its full path", path)
}
