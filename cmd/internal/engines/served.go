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
	use := catalogue.ForCompletion
	if name == s.Embedding.Model {
		use = catalogue.ForSearch
	}
	return tried(ctx, RunningNow(stateDir, s).Settings, name, use)
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
