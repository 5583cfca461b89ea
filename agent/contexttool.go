package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/retrieval"
)

type snippet struct {
	At    string  `json:"at"`
	Score float64 `json:"score"`
	Why   string  `json:"why,omitempty"`
	Text  string  `json:"text"`
}

const (
	// chunksPerFile is how many pieces of one file a context has at most.
	chunksPerFile = 2
	// otherLanguage is what a result in another language than the one asked for
	// counts; documentation is of no language.
	otherLanguage = .5
	// agentLines is how many lines of a piece an agent is shown, and agentResults how many
	// results it has, so that it sees several places in a short answer and reads on at the
	// right one.
	agentLines   = 20
	agentResults = 20
	// codeShare is the part of a short answer's bytes that is code, as JSON writes it with
	// one byte in six for escapes; the rest names further places.
	codeShare = .55
	// envelopeBytes is what is kept free for what stands around an answer's data.
	envelopeBytes = 512
)

// contextAnswer is what retrieve_context answers.
type contextAnswer struct {
	Snippets []snippet `json:"snippets"`
	// Also are further places that may have it, for an agent to read.
	Also []string `json:"also,omitempty"`
}

func (b *Toolbox) retrieveContext(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, q, err := decodeQuery[struct {
		asked
		bounds
		CurrentPath   string `json:"current_path"`
		Language      string `json:"language"`
		MaxChunks     int    `json:"max_chunks"`
		MaxTotalBytes int    `json:"max_total_bytes"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	var warnings []string
	tokens := b.tokensOf(raw, false)
	req := retrieval.Request{Query: q, Limit: 2 * args.MaxChunks}
	if tokens > 0 {
		req.Limit = max(req.Limit, agentResults)
	}
	if args.CurrentPath != "" {
		// A model that names no file of the workspace still has its question.
		if at, err := b.locate(ctx, args.CurrentPath); err != nil {
			warnings = append(warnings, "current_path is ignored: "+b.explain(ctx, err).Message)
		} else {
			req.At = &retrieval.Position{Path: at, Line: 1}
		}
	}
	req.At = b.position(req.At)
	answer, err := b.parts.Workspace.Search(ctx, req)
	if err != nil {
		return reply{}, err
	}
	b.showed(&q, window{}, &answer)
	wanted, want := language(args.Language), wordsOf(args.Query, &q)
	type piece struct {
		retrieval.Excerpt
		score float64
		// whole is where the excerpt is from, with what is declared there.
		whole string
	}
	var pieces []piece
	for _, r := range answer.Results {
		if ctx.Err() != nil {
			return reply{}, ctx.Err()
		}
		name, lines, ok := b.text(r)
		if !ok {
			continue
		}
		weight := 1.
		if l := lang.Detect(filepath.FromSlash(r.Path), nil); wanted != "" && l != wanted && lang.Of(l).Content != lang.Prose {
			weight = otherLanguage
		}
		locations := append([]retrieval.Location{{StartLine: r.StartLine, EndLine: r.EndLine, Score: r.Score}}, r.More...)
		for i, p := range locations[:min(chunksPerFile, len(locations))] {
			e := excerptOf(name, lines, p.StartLine, p.EndLine)
			if tokens > 0 {
				from, _, text := want.excerpt(lines, p.StartLine, p.EndLine, agentLines)
				e = retrieval.Excerpt{Path: name, StartLine: from, Text: text + "\n"}
			}
			symbol := p.Symbol
			if i == 0 {
				symbol = r.Symbol
			}
			if i == 0 && len(r.Reasons) > 0 {
				e.Why = r.Reasons[0]
			}
			pieces = append(pieces, piece{e, weight * p.Score, strings.TrimSpace(at(name, p.StartLine, p.EndLine) + " " + symbol)})
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(b.score, a.score) })
	var m retrieval.Material
	by := map[string]piece{} // by where a piece begins
	beginning := func(path string, line int) string { return at(path, line, line) }
	for _, p := range pieces {
		m.Chunks = append(m.Chunks, p.Excerpt)
		by[beginning(p.Path, p.StartLine)] = p
	}
	most := args.MaxTotalBytes
	if tokens > 0 {
		most = min(most, int(codeShare*float64(tokens*bytesPerToken)))
	}
	var list []snippet
	var shown map[string]bool
	pack := func(bytes int) {
		list, shown = []snippet{}, map[string]bool{}
		budget := retrieval.Budget{Bytes: bytes, Tokens: bytes, Chunks: args.MaxChunks, PerFile: chunksPerFile}
		for _, p := range retrieval.Pack(m, budget, func(text string) int { return len(text) }) {
			from := by[beginning(p.Path, p.StartLine)]
			shown[from.whole] = true
			list = append(list, snippet{at(p.Path, p.StartLine, p.EndLine), rounded(from.score), p.Why, p.Text})
		}
	}
	// What is sent is JSON, which writes code with more bytes than it has.
	for bytes := most; ; bytes -= bytes / 8 {
		pack(bytes)
		raw, err := encode(list)
		if err != nil {
			return reply{}, err
		}
		if len(raw)+envelopeBytes <= args.MaxTotalBytes || len(list) == 0 {
			break
		}
	}
	var also []string
	for _, p := range pieces {
		if tokens > 0 && !shown[p.whole] {
			shown[p.whole] = true
			also = append(also, p.whole)
		}
	}
	// Of a long answer the further places go first, then the snippets from behind.
	r := reply{count: len(list) + len(also), first: func(n int) any {
		return contextAnswer{list[:min(n, len(list))], also[:max(0, n-len(list))]}
	}}
	r.most = args.MaxTotalBytes
	r.warn(warnings...)
	r.from(answer.Backend, answer.Missing)
	if r.count == 0 {
		err = b.nothing(ctx, &r, answer)
	}
	return r, err
}

// excerptOf are lines of a file as material for a context, which may end after a
// blank line and before a line that is not indented.
func excerptOf(name string, lines []string, start, end int) retrieval.Excerpt {
	start, end = max(1, start), min(end, len(lines))
	e := retrieval.Excerpt{Path: name, StartLine: start}
	if start > end {
		return e
	}
	for i := start; i < end; i++ { // lines[i] is line i+1
		if l := lines[i]; lines[i-1] == "" || l != "" && !strings.ContainsRune(" \t})]", rune(l[0])) {
			e.Cuts = append(e.Cuts, i+1)
		}
	}
	e.Text = strings.Join(lines[start-1:end], "\n") + "\n"
	return e
}
