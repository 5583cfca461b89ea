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
