package engines

import (
	"context"
	"maps"
	"slices"

	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/catalogue"
)

// An Asked is a model that the settings have asked.
type Asked struct {
	// Use is completion, search, or the completion of a language.
	Use, Name string
	// Off: the settings switch that use off.
	Off bool
	// Language is that of a model for a single one, else "".
	Language string
}

// AskedBy are the models that the settings name.
func AskedBy(s settings.Settings) []Asked {
	list := []Asked{
		{Use: catalogue.ForCompletion, Name: s.Model, Off: !s.Ollama.Enabled},
		{Use: catalogue.ForSearch, Name: s.Embedding.Model, Off: !s.Ollama.Enabled || !s.Embedding.Enabled},
	}
	for _, language := range slices.Sorted(maps.Keys(s.Completion.Models)) {
		list = append(list, Asked{Use: catalogue.ForCompletion + " of " + language, Name: s.Completion.Models[language], Off: !s.Ollama.Enabled, Language: language})
	}
	return list
}

// OwnsModels is whether the server of the settings is one whose models quarry looks after: Ollama.
func OwnsModels(s settings.Settings) bool { return model.API(s.Ollama.API) != model.OpenAIAPI }

// Served is nil if the server of the settings has a model. It loads nothing.
func Served(ctx context.Context, s settings.Settings, asked Asked) error {
	runtime, err := model.New(ModelOptions(WithModel(s, asked.Name)))
	if err != nil {
		return err
	}
	defer runtime.Close()
	if asked.Use == catalogue.ForSearch {
		return runtime.NewEmbedder(asked.Name).Listed(ctx)
	}
	return runtime.Listed(ctx)
}

// Verify tries a model of the server of the settings, as Models.Try does; what another server than Ollama has is tried without
// its digest, which that does not tell.
func Verify(ctx context.Context, s settings.Settings, stateDir, name string, report Doing) ([]model.Finding, error) {
	if OwnsModels(s) {
		m, err := NewModels(s, stateDir)
		if err != nil {
			return nil, err
		}
		return m.Try(ctx, name, name, report)
	}
	return tried(ctx, RunningNow(stateDir, s).Settings, name, NewServed(s).UseOf(name))
}

// ServedModels are the models of a server that is no Ollama: whoever runs it installs them.
type ServedModels struct {
	settings  settings.Settings
	catalogue catalogue.List
}

// NewServed is the models of the server of the settings.
func NewServed(s settings.Settings) ServedModels {
	c, _ := LoadCatalogue() // one that cannot be read tells of no use
	return ServedModels{s, c}
}

// Names are those that the server has.
func (m ServedModels) Names(ctx context.Context) ([]string, error) {
	runtime, err := model.New(ModelOptions(m.settings))
	if err != nil {
		return nil, err
	}
	defer runtime.Close()
	return runtime.Served(ctx)
}

// UseOf is what a model is for, as far as its name and the settings say.
func (m ServedModels) UseOf(name string) string {
	if e, ok := m.catalogue.Find(name); ok {
		return e.Use
	}
	if name == m.settings.Embedding.Model || (model.Installed{Name: name}).Embeds() {
		return catalogue.ForSearch
	}
	return catalogue.ForCompletion
}

// Does says what a model does from now on.
func (m ServedModels) Does(name string) string { return does(name, m.UseOf(name)) }

// Choose writes a model into the user's settings.
func (m ServedModels) Choose(name string) (key, path string, err error) {
	return choose(name, m.UseOf(name))
}

// tried looks at a model in every way that its use needs.
func tried(ctx context.Context, s settings.Settings, name, use string) ([]model.Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	if use == catalogue.ForCompletion {
		s.Model = name
	}
	runtime, err := model.New(ModelOptions(s))
	if err != nil {
		return nil, err
	}
	defer runtime.Close()
	if use == catalogue.ForSearch {
		return runtime.NewEmbedder(name).Check(ctx), nil
	}
	return runtime.Check(ctx), nil
}
