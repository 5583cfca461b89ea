package ollamatest

import (
	"fmt"

	"github.com/ollama/ollama/fs/ggml"
)

// BertShape is the size of a generated embedding model. Weights are random but
// fixed by the shape.
type BertShape struct {
	Layers    int
	Embedding int // a multiple of 32; also the dimension of the vectors
	Context   int // in tokens, which are single characters
}

// TinyBert embeds a text in about a millisecond.
var TinyBert = BertShape{Layers: 1, Embedding: 64, Context: 512}

// MiniBert has the size of all-MiniLM-L6 and granite-embedding:30m.
var MiniBert = BertShape{Layers: 6, Embedding: 384, Context: 512}

// WriteBert writes a GGUF file of the bert architecture to path. Its tokens are
// characters, so texts that share characters have similar vectors and nothing
// more can be read from them.
func WriteBert(path string, s BertShape) error {
	tokens := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"}
	types := []int32{control, control, control, control}
	for r := rune('!'); r <= '~'; r++ {
		if r >= 'A' && r <= 'Z' {
			continue // the tokenizer folds case
		}
		// The first character of a word carries the mark of a word's beginning.
		tokens, types = append(tokens, string(r), "▁"+string(r)), append(types, normal, normal)
	}
	e, ffn := s.Embedding, 4*s.Embedding
	kv := ggml.KV{
		"general.architecture":              "bert",
		"general.name":                      "tiny-bert",
		"general.file_type":                 uint32(0), // all float32
		"bert.block_count":                  uint32(s.Layers),
		"bert.context_length":               uint32(s.Context),
		"bert.embedding_length":             uint32(e),
		"bert.feed_forward_length":          uint32(ffn),
		"bert.attention.head_count":         uint32(e / 32),
		"bert.attention.layer_norm_epsilon": float32(1e-12),
		"bert.attention.causal":             false,
		"bert.pooling_type":                 uint32(1), // the mean
		"tokenizer.ggml.model":              "bert",
		"tokenizer.ggml.token_type_count":   uint32(2),
		"tokenizer.ggml.tokens":             tokens,
		"tokenizer.ggml.token_type":         types,
		"tokenizer.ggml.scores":             make([]float32, len(tokens)),
		"tokenizer.ggml.cls_token_id":       uint32(2),
		"tokenizer.ggml.separator_token_id": uint32(3),
	}
	w := newWeights(5, s.Layers*s.Embedding)
	norm := func(name string) {
		w.ones(name+".weight", e)
		w.zeros(name+".bias", e)
	}
	w.random("token_embd.weight", 0.1, e, len(tokens))
	w.random("token_types.weight", 0.1, e, 2)
	w.random("position_embd.weight", 0.01, e, s.Context)
	norm("token_embd_norm")
	for l := range s.Layers {
		blk := func(part string) string { return fmt.Sprintf("blk.%d.%s", l, part) }
		for _, part := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			w.random(blk(part)+".weight", 0.05, e, e)
		}
		norm(blk("attn_output_norm"))
		w.random(blk("ffn_up")+".weight", 0.05, e, ffn)
		w.random(blk("ffn_down")+".weight", 0.05, ffn, e)
		norm(blk("layer_output_norm"))
	}
	return w.save(path, kv)
}
