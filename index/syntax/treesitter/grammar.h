// What a generated grammar is made of, as tree-sitter lays it out (its parser.h,
// ABI 13 and 14), as far as it is read here: fields and aliases of nodes, and the scanner
// that some languages have.
#ifndef QUARRY_GRAMMAR_H
#define QUARRY_GRAMMAR_H

#include <stdbool.h>
#include <stdint.h>

enum {
  SYMBOL_ERROR = UINT16_MAX,
  SCANNER_STATE_MAX = 1024, // bytes
};

// token_source is what a scanner reads text through: a TSLexer.
typedef struct token_source token_source;

typedef struct {
  uint16_t field;
  uint8_t child;
  bool inherited;
} field_entry;

typedef struct {
  uint16_t index, length;
} field_slice;

typedef struct {
  uint32_t version, symbol_count, alias_count, token_count, external_token_count;
  uint32_t state_count, large_state_count, production_count, field_count;
  uint16_t max_alias_sequence;
  const uint16_t *parse_table, *small_parse_table;
  const uint32_t *small_parse_table_map;
  const void *actions;
  const char *const *symbol_names, *const *field_names;
  const field_slice *field_slices;
  const field_entry *field_entries;
  const void *symbols;
  const uint16_t *public_symbols;
  const uint16_t *alias_map;
  const uint16_t *alias_sequences; // by production
  const void *lex_modes;
  bool (*lex)(token_source *, uint16_t lex_state);
  bool (*lex_keyword)(token_source *, uint16_t lex_state);
  uint16_t keyword_capture;
  struct {
    const bool *enabled; // by external lex state and token
    const uint16_t *symbols;
    void *(*create)(void);
    void (*destroy)(void *);
    bool (*scan)(void *, token_source *, const bool *enabled);
    unsigned (*serialize)(void *, char *);
    void (*deserialize)(void *, const char *, unsigned);
  } scanner;
  const uint16_t *primary_states; // ABI 14 only
} grammar;

#endif
