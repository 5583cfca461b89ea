package engines

import (
	"context"
	"fmt"
	"sync"
	"time"

	"quarry/lsp/settings"
	"quarry/model"
)

// A key store is what the system has for secrets: Keychain on macOS, Secret Service on Linux,
// Credential Manager on Windows. quarry only reads there; docs/models.md says how a user puts
// a key in.

// keyService is what a key of quarry's is filed under, with the host that it is for.
const keyService = "quarry"

// keyTimeout is how long the store may take; a user may have to unlock it.
const keyTimeout = time.Minute

// keyOf answers where requests to the server of the settings get their key, nil if the settings
// say it themselves, or that there is none.
func keyOf(s settings.Settings) func(ctx context.Context, refused string) (string, error) {
	if !s.Ollama.KeyStore || s.Ollama.APIKey != "" {
		return nil
	}
	u, err := model.ParseEndpoint(s.Ollama.URL, true)
	if err != nil {
		return nil // whoever makes the runtime says what is wrong with the address
	}
	host := u.Hostname()
	var mu sync.Mutex // guards key, and lets one ask at a time
	var key string
	return func(ctx context.Context, refused string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if key != "" && key != refused {
			return key, nil
		}
		ctx, cancel := context.WithTimeout(ctx, keyTimeout)
		defer cancel()
		found, err := storedKey(ctx, host)
		if err != nil {
			return "", fmt.Errorf("no key for %s: put one into the system key store with %s, or set ollama.keyStore to false (service %q): %w", host, storing(host), keyService, err)
		}
		key = found
		return key, nil
	}
}
