package lsp

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"quarry/agent/markdown"
	"quarry/completion"
	"quarry/lsp/document"
)

// popupTriggers open the completion menu besides letters, where an editor asks
// for triggers; a blank is none of them, or the menu would never close.
var popupTriggers = []string{".", "(", "=", ":"}

// showsInline tells clients with ghost text of their own from those that get
// completion items. Emacs' lsp-mode has it but sends a null capability.
func showsInline(params *protocol.InitializeParams) bool {
	if td := params.Capabilities.TextDocument; td != nil && td.InlineCompletion != nil {
		return true
	}
	return params.ClientInfo.Name == "emacs"
}

// Completion implements textDocument/completion for clients without inline
// completion (Helix, Zed, Neovim 0.11, eglot).
func (s *Server) Completion(ctx context.Context, params *protocol.CompletionParams) (protocol.CompletionResult, error) {
	if s.showsInline {
		return nil, nil
	}
	req, open := s.completionRequest(params.TextDocumentPositionParams)
	if req == nil {
		return nil, nil
	}
	result, err := s.complete(ctx, *req, open)
	if result == nil || err != nil {
		return nil, err
	}
	// What fits now may not fit the next letter, so the client must ask again.
	list := &protocol.CompletionList{IsIncomplete: true, Items: []protocol.CompletionItem{}}
	for _, item := range unmasked(open[0].Text.String(), result.Items) {
		list.Items = append(list.Items, s.popupItem(open[0], req.Offset, item))
	}
	return list, nil
}

// popupItem writes a candidate so that clients insert it whole. They filter the
// menu by the word before the cursor, so the edit takes that word in and the
// filter text is the word itself: whatever the client's matcher, it matches.
func (s *Server) popupItem(doc *document.Document, cursor int, item completion.Item) protocol.CompletionItem {
	text := doc.Text.String()
	word := wordBefore(text[:cursor])
	start := min(item.Start, cursor-len(word))
	newText := text[start:item.Start] + item.Text
	format := protocol.InsertTextFormatPlainText
	if s.clientName == "Neovim" {
		// Neovim 0.11 inserts a plain item only up to its first line break.
		newText, format = escapeSnippet(newText), protocol.InsertTextFormatSnippet
	}
	label, rest, _ := strings.Cut(strings.TrimSpace(text[start:cursor]+item.Text[min(len(item.Text), max(0, cursor-item.Start)):]), "\n")
	label = strings.TrimRight(label, " \t\r")
	if rest != "" {
		label += " …"
	}
	return protocol.CompletionItem{
		Label:            label,
		Kind:             protocol.CompletionItemKindText,
		Detail:           protocol.NewOptional("quarry, " + item.Engine),
		Documentation:    &protocol.MarkupContent{Kind: protocol.MarkupKindMarkdown, Value: markdown.Code(doc.Language, item.Text)},
		FilterText:       protocol.NewOptional(word),
		InsertTextFormat: format,
		InsertTextMode:   protocol.InsertTextModeAsIs,
		TextEdit:         &protocol.TextEdit{Range: document.Range(doc.Text, start, item.End, s.encoding), NewText: newText},
	}
}

// wordBefore is the identifier that ends before.
func wordBefore(before string) string {
	i := len(before)
	for i > 0 {
		r, n := utf8.DecodeLastRuneInString(before[:i])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		i -= n
	}
	return before[i:]
}

// escapeSnippet makes text mean itself in LSP's snippet syntax.
func escapeSnippet(text string) string {
	return strings.NewReplacer(`\`, `\\`, `$`, `\$`, `}`, `\}`).Replace(text)
}
