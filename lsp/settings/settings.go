// Package settings is quarry's configuration: one typed struct, filled from
// layers, each of which may name only some keys.
//
// Later layers win: the defaults, the user's file, what the editor sends
// (initializationOptions, then workspace/configuration), the environment, the
// command line. A key that no field has, or a value that a field cannot take, is
// a Problem; it changes nothing and hides nothing else.
//
// A workspace can carry editor settings, so what the editor sends may not name
// an endpoint, nor a model, since Ollama runs some models elsewhere: fields tagged `scope:"user"` are taken from the user's file, the
// environment and the command line alone. Nor may it allow what the user's file forbids: fields
// tagged `merge:"forbid"`.
package settings

import (
	"fmt"
	"time"
)

// Settings is every option quarry has. The JSON schema and the table in
// docs/settings.md are generated from it; `doc` is the description there, `min`
// and `max` bound numbers, `enum` lists the only values of a string.
type Settings struct {
	Profile     string      `json:"profile" scope:"user" enum:"default,laptop,workstation,model-free" doc:"Other defaults; every other setting still wins over them. laptop saves battery and memory, workstation spends both on more context, model-free asks no model. docs/settings.md lists what each changes."`
	Model       string      `json:"model" scope:"user" doc:"Ollama model that completes code. It must know fill-in-the-middle."`
	Ollama      Ollama      `json:"ollama"`
	Completion  Completion  `json:"completion"`
	Index       Index       `json:"index"`
	Embedding   Embedding   `json:"embedding"`
	Reranker    Reranker    `json:"reranker"`
	Diagnostics Diagnostics `json:"diagnostics"`
	Memory      Memory      `json:"memory"`
	Battery     Battery     `json:"battery"`
	Stats       Stats       `json:"stats"`
	HTTP        HTTP        `json:"http"`
	Service     Service     `json:"service"`
	LogLevel    string      `json:"logLevel" enum:"debug,info,warn,error" doc:"Least severe message written to standard error."`
}

// Ollama says where the model runtime is and how it is run.
type Ollama struct {
	API         string   `json:"api" scope:"user" enum:"ollama,openai" doc:"API of the server: Ollama's own, or OpenAI's completions API as in vLLM and the llama.cpp server."`
	Enabled     bool     `json:"enabled" merge:"forbid" doc:"Ask models. Otherwise completions are copied from your own code, and search finds code by its words."`
	URL         string   `json:"url" scope:"user" doc:"Address of Ollama or of the other server. The environment variable OLLAMA_HOST sets it too."`
	APIKey      string   `json:"apiKey" scope:"user" doc:"API key for an OpenAI-compatible server."`
	KeyStore    bool     `json:"keyStore" scope:"user" doc:"Take the API key from the system's key store, where it is stored under quarry and the host of ollama.url. docs/models.md has the command that stores it."`
	AllowRemote bool     `json:"allowRemote" scope:"user" doc:"Allow servers on other machines and Ollama's cloud models. The code in prompts then leaves this machine."`
	KeepAlive   Duration `json:"keepAlive" scope:"user" doc:"How long Ollama keeps the model in memory after the last request, as a Go duration (30m); a negative value keeps it loaded."`
	ContextSize int      `json:"contextSize" scope:"user" min:"1024" max:"131072" doc:"Context window in tokens, sent with every request so that the model is never reloaded."`
}

// HTTP serves ghost text to clients of OpenAI's API.
type HTTP struct {
	Address string `json:"address" scope:"user" doc:"Loopback address, such as 127.0.0.1:7997, that serves ghost text as POST /v1/completions, for Zed and other clients of OpenAI's API. If empty, it is not served."`
	Token   string `json:"token" scope:"user" doc:"API key that such clients must send; at least 16 characters. Without it, nothing is served."`
}

// Service is how commands and quarry serve find each other.
type Service struct {
	Enabled bool   `json:"enabled" scope:"user" doc:"Let quarry search ask quarry serve if it is running. Otherwise, or if it does not answer, the command opens the index itself. The answer is the same."`
	Socket  string `json:"socket" scope:"user" doc:"Path of the Unix socket of quarry serve, in a folder that only you can enter. If empty, it is serve/socket in quarry's folder for state."`
}

// Completion tunes ghost text.
type Completion struct {
	Enabled           bool              `json:"enabled" merge:"forbid" doc:"Offer ghost text."`
	DisabledLanguages []string          `json:"disabledLanguages" merge:"forbid" doc:"LSP language ids without ghost text."`
	DisabledPaths     []string          `json:"disabledPaths" glob:"true" merge:"forbid" doc:"Globs of files and folders without ghost text, relative to the workspace folder, as in .gitignore: ** matches across folders, a folder's name covers everything below it, and {a,b} matches either."`
	MaxFileBytes      int               `json:"maxFileBytes" min:"1024" max:"67108864" doc:"Largest document that gets ghost text."`
	Temperature       float64           `json:"temperature" min:"0" max:"2" doc:"Sampling temperature."`
	TopP              float64           `json:"topP" min:"0" max:"1" doc:"Nucleus sampling: share of the probability mass to sample from."`
	PrefixTokens      int               `json:"prefixTokens" min:"128" max:"65536" doc:"Maximum number of tokens of the document before the cursor in a prompt. If ollama.contextSize leaves less room, quarry lowers this and the next two together."`
	SuffixTokens      int               `json:"suffixTokens" min:"16" max:"128" doc:"Maximum number of tokens of the document after the cursor in a prompt."`
	ContextTokens     int               `json:"contextTokens" min:"16" max:"65536" doc:"Maximum number of tokens of code from other places in a prompt."`
	MaxTokens         int               `json:"maxTokens" min:"1" max:"2048" doc:"Maximum number of tokens in one completion."`
	Timeout           Duration          `json:"timeout" doc:"How long the model may take while you type; then quarry uses what it has written so far. When you request a completion, it may take three times as long."`
	Debounce          Duration          `json:"debounce" doc:"Longest wait for your next keystroke before the model is asked; the wait adapts to your typing and the model. A negative value disables it."`
	Candidates        int               `json:"candidates" min:"1" max:"8" doc:"Number of alternatives when you request a completion."`
	Models            map[string]string `json:"models" scope:"user" doc:"Other models for single languages, by LSP language id: {\"python\": \"qwen2.5-coder:1.5b\"}. Until such a model can be asked, the usual one answers."`
	TwoRounds         bool              `json:"twoRounds" doc:"When you request a whole body, ask the model twice: the second time with the declarations that its first answer names."`
	MinConfidence     float64           `json:"minConfidence" min:"0" max:"1" doc:"While you type, hide completions whose mean token probability is lower."`
	Template          string            `json:"template" enum:"auto,granite,qwen2.5-coder,codegemma,starcoder2,granite-code,mellum,deepseek-coder,codestral,seed-coder,codellama,glm,infill,custom" doc:"Family of the fill-in-the-middle prompt. auto chooses the one whose tags are in the model's vocabulary; infill leaves the layout to llama.cpp's /infill; custom uses completion.templateTags."`
	TemplateTags      []string          `json:"templateTags" doc:"For the template custom: the tags before the prefix, the suffix and the middle that the model was trained with."`
	ChatLayout        bool              `json:"chatLayout" doc:"Wrap the prompt into the model's chat turns instead of sending it raw."`
	RepeatPenalty     float64           `json:"repeatPenalty" min:"0.5" max:"2" doc:"Penalty on repeated tokens; 1 is none."`
}

// Index says what is indexed.
type Index struct {
	Enabled        bool     `json:"enabled" merge:"forbid" doc:"Index the workspace. Without an index nothing is found, and completions know only the open documents."`
	Exclude        []string `json:"exclude" glob:"true" merge:"union" doc:"Globs of files and folders, written as in .gitignore, that quarry leaves out of the index and shows to no model. A repository cannot re-include them. Lists from your file, the editor and the environment are combined."`
	MaxFileBytes   int      `json:"maxFileBytes" scope:"user" min:"1024" max:"67108864" doc:"Largest file that is indexed."`
	ProcessorShare int      `json:"processorShare" min:"1" max:"100" doc:"Percentage of the processors that reading files for the index may use. While you type, it uses next to nothing anyway."`
	MemoryMB       int      `json:"memoryMB" scope:"user" min:"0" max:"1048576" doc:"Memory in megabytes that quarry's own process tries to stay below. It frees memory sooner, which costs processor time. 0 is a quarter of memory.budgetMB, or what the models leave when that budget is nearly used up."`
	WideFolders    []string `json:"wideFolders" scope:"user" doc:"Folders to index although they hold far more than a project: your home folder (~), / or a folder above your home folder. Otherwise, quarry indexes nothing in such a folder when it is opened."`
}

// Embedding tunes semantic search.
type Embedding struct {
	Enabled        bool   `json:"enabled" merge:"forbid" doc:"Embed the workspace's code in the background for semantic search. Needs the embedding model; if it is not installed, nothing happens."`
	Model          string `json:"model" scope:"user" doc:"Ollama model that embeds code. Changing it embeds everything again; until then the existing vectors are used."`
	DocumentPrefix string `json:"documentPrefix" doc:"Text to put before code that is embedded, which some models need; auto chooses it by the model's name. Changing it embeds everything again."`
	QueryPrefix    string `json:"queryPrefix" doc:"Text to put before a query that is embedded; auto chooses it by the model's name."`
}

// Reranker has a model order the first results of a search.
type Reranker struct {
	By    string `json:"by" enum:"nothing,model,endpoint" doc:"What reranks the first ten results of a search in words: nothing, the completion model while it is idle, or a cross-encoder at reranker.url (endpoint)."`
	URL   string `json:"url" scope:"user" doc:"Address of a server with the route /v1/rerank, such as the llama.cpp server or vLLM. ollama.allowRemote applies to it; ollama.apiKey is sent to it only if the address is that of ollama.url."`
	Model string `json:"model" scope:"user" doc:"Model to request from this server."`
}

// Memory bounds all that quarry makes the machine hold.
type Memory struct {
	BudgetMB int `json:"budgetMB" scope:"user" min:"0" max:"1048576" doc:"Memory in megabytes that quarry and the models it asks may use together; 0 is half of the machine's memory. quarry recommends models that fit. Near the budget it saves memory step by step, and its status says how. A model counts only if its server reports its memory; vLLM does not."`
}

// Battery is what is done without while the machine has nothing else.
type Battery struct {
	Save bool `json:"save" doc:"On battery, wait longer for your next keystroke before the model is asked, and embed no code. Not every system reports that it runs on battery."`
}

// Stats are numbers about quarry's own work.
type Stats struct {
	Keep  bool `json:"keep" merge:"forbid" doc:"Keep counts and times of quarry's work for 30 days on this machine, for the command quarry stats. They contain no code and no file names, and nothing is sent."`
	Trace bool `json:"trace" merge:"forbid" doc:"Also keep which result of a search was opened and which kinds of ghost text were accepted. This needs stats.keep. Only numbers are kept: no query, no code and no file name."`
}

// Diagnostics are what quarry reports by itself.
type Diagnostics struct {
	Syntax bool `json:"syntax" doc:"Report syntax errors, for files that no other language server covers."`
}

// Duration is a time.Duration written as text ("30m"), as time.ParseDuration
// reads it.
type Duration time.Duration

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as \"30m\"", b)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes the shortest form that reads back.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Default is the configuration of a user who has set nothing.
func Default() Settings {
	return Settings{
		Profile: "default",
		Model:   "granite4.1:3b",
		Ollama: Ollama{
			Enabled:     true,
			API:         "ollama",
			URL:         "http://127.0.0.1:11434",
			KeepAlive:   Duration(30 * time.Minute),
			ContextSize: 4096,
		},
		Completion: Completion{
			Enabled:           true,
			DisabledLanguages: []string{},
			DisabledPaths:     []string{},
			MaxFileBytes:      1 << 20,
			Temperature:       0.2,
			TopP:              0.9,
			PrefixTokens:      1536,
			SuffixTokens:      96,
			ContextTokens:     768,
			MaxTokens:         128,
			Timeout:           Duration(10 * time.Second),
			Debounce:          Duration(250 * time.Millisecond),
			Candidates:        3,
			Models:            map[string]string{},
			Template:          "auto",
			RepeatPenalty:     1.05,
		},
		Index: Index{Enabled: true, Exclude: []string{}, MaxFileBytes: 1 << 20, ProcessorShare: 100, WideFolders: []string{}},
		Embedding: Embedding{
			Enabled:        true,
			Model:          "granite-embedding:30m",
			DocumentPrefix: "auto",
			QueryPrefix:    "auto",
		},
		Reranker: Reranker{By: "nothing"},
		Battery:  Battery{Save: true},
		Stats:    Stats{Keep: true, Trace: true},
		Service:  Service{Enabled: true},
		LogLevel: "info",
	}
}
