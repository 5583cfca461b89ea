// Package editors holds what `quarry setup` installs into editors.
package editors

import "embed"

// Neovim is the plugin, a folder of 'runtimepath' below nvim.
//
//go:embed nvim/doc nvim/lsp nvim/lua nvim/plugin
var Neovim embed.FS

// Emacs is the package, below emacs.
//
//go:embed emacs/quarry.el emacs/quarry-change.el emacs/quarry-ghost.el emacs/quarry-page.el
var Emacs embed.FS

// Zed is the source of the extension, below zed. Zed builds it.
//
//go:embed zed/Cargo.lock zed/Cargo.toml zed/LICENSE zed/extension.toml zed/src
var Zed embed.FS
