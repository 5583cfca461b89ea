package ollamatest

import (
	"fmt"
	"strings"

	"github.com/ollama/ollama/fs/ggml"
)

// Shape is the size of a generated Granite. Weights are random but fixed by the
// shape, so the same Shape always gives the same file.
type Shape struct {
	Layers    int
	Embedding int // a multiple of 64
	FFN       int
	Context   int // trained context length in tokens
	// NoFIM leaves Granite's special tokens except end_of_text out of the
	// vocabulary, as in a model that never learnt to fill in the middle.
	NoFIM bool
	// Base has its makers say that it was not trained to chat.
	Base bool
	// Says, if set, are the only two tokens the model ever says, in the
	// vocabulary's spelling ("Ġt" is t after a space).
	Says [2]string
}

// Tiny loads in well under a second and answers in microseconds a token.
var Tiny = Shape{Layers: 2, Embedding: 64, FFN: 128, Context: 8192}

// Slow takes long enough over a prompt and a token that what the key-value
// cache saves, and what a cancelled request still costs, can be measured.
var Slow = Shape{Layers: 6, Embedding: 256, FFN: 1024, Context: 8192}

// SpecialTokens are Granite 4's, in the order of its vocabulary.
var SpecialTokens = []string{
	"<|end_of_text|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",
	"<|filename|>", "<|reponame|>", "<|start_of_role|>", "<|end_of_role|>",
}

// WriteGranite writes a GGUF file of the granite architecture to path: a
// byte-level vocabulary with Granite's special tokens and random weights. The
// output matrix is zero for special, control and non-ASCII tokens, so what the
// model says is printable and goes on until the token limit.
func WriteGranite(path string, s Shape) error {
	tokens, types := vocabulary(s.NoFIM)
	heads := s.Embedding / 64
	kv := ggml.KV{
		"general.architecture":                     "granite",
		"general.name":                             "tiny-granite",
		"general.file_type":                        uint32(0), // all float32
		"granite.block_count":                      uint32(s.Layers),
		"granite.context_length":                   uint32(s.Context),
		"granite.embedding_length":                 uint32(s.Embedding),
		"granite.feed_forward_length":              uint32(s.FFN),
		"granite.attention.head_count":             uint32(heads),
		"granite.attention.head_count_kv":          uint32(heads),
		"granite.attention.layer_norm_rms_epsilon": float32(1e-5),
		"granite.attention.scale":                  float32(0.015625),
		"granite.rope.freq_base":                   float32(10000),
		"granite.rope.dimension_count":             uint32(64),
		"granite.vocab_size":                       uint32(len(tokens)),
		"granite.embedding_scale":                  float32(12),
		"granite.residual_scale":                   float32(0.22),
		"granite.logit_scale":                      float32(1),
		"tokenizer.ggml.model":                     "gpt2",
		"tokenizer.ggml.pre":                       "dbrx",
		"tokenizer.ggml.tokens":                    tokens,
		"tokenizer.ggml.token_type":                types,
		"tokenizer.ggml.merges":                    []string{"i n", "Ġ t"},
		"tokenizer.ggml.eos_token_id":              uint32(len(asciiAndBytes()) + 2),
		"tokenizer.ggml.add_bos_token":             false,
	}

	if s.Base {
		kv["general.finetune"] = "base"
	}
	e := s.Embedding
	w := newWeights(4, s.Layers*s.Embedding+s.FFN)
	w.random("token_embd.weight", 0.1, e, len(tokens))
	w.ones("output_norm.weight", e)
	output := w.random("output.weight", 1, e, len(tokens))
	for id, token := range tokens {
		if types[id] != normal || !printable(token) {
			clear(output[id*e : (id+1)*e])
		}
	}
	if s.Says[0] != "" {
		// Of two opposite rows one always has the only positive logit.
		clear(output)
		row := w.normal(e, 10)
		for id, token := range tokens {
			for i, sign := range []float32{1, -1} {
				if token == s.Says[i] {
					for k, x := range row {
						output[id*e+k] = sign * x
					}
				}
			}
		}
	}
	for l := range s.Layers {
		blk := func(part string) string { return fmt.Sprintf("blk.%d.%s.weight", l, part) }
		for _, part := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			w.random(blk(part), 0.1, e, e)
		}
		w.ones(blk("attn_norm"), e)
		w.ones(blk("ffn_norm"), e)
		w.random(blk("ffn_gate"), 0.1, e, s.FFN)
		w.random(blk("ffn_up"), 0.1, e, s.FFN)
		w.random(blk("ffn_down"), 0.1, s.FFN, e)
	}
	return w.save(path, kv)
}

// Token types of llama.cpp.
const (
	normal  int32 = 1
	control int32 = 3
)

func vocabulary(noFIM bool) (tokens []string, types []int32) {
	tokens = append(asciiAndBytes(), "in", "Ġt")
	special := SpecialTokens
	if noFIM {
		special = special[:1]
	}
	for range tokens {
		types = append(types, normal)
	}
	for _, t := range special {
		tokens, types = append(tokens, t), append(types, control)
	}
	return tokens, types
}

// asciiAndBytes is GPT-2's alphabet: one printable character for each of the
// 256 bytes, in byte order.
func asciiAndBytes() []string {
	var list []string
	shifted := rune(256)
	for b := range rune(256) {
		if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
			list = append(list, string(b))
		} else {
			list = append(list, string(shifted))
			shifted++
		}
	}
	return list
}

// printable reports whether a token stands for ASCII text; Ġ is the space and Ċ
// the line feed of GPT-2's alphabet.
func printable(token string) bool {
	return strings.IndexFunc(token, func(r rune) bool { return (r < '!' || r > '~') && r != 'Ġ' && r != 'Ċ' }) < 0
}
