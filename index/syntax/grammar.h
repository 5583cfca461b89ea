// What a generated grammar is made of, as tree-sitter lays it out (its parser.h,
// ABI 13 and 14): tables, the functions that cut text into tokens, and the scanner
// that some languages have beside them.
#ifndef QUARRY_GRAMMAR_H
#define QUARRY_GRAMMAR_H

#include <stdbool.h>
#include <stdint.h>

enum {
  SYMBOL_END = 0,          // of the text
  SYMBOL_ERROR = UINT16_MAX,
  ERROR_STATE = 0,         // the state whose tokens are those of all states
  NO_LOOKAHEAD = UINT16_MAX, // as a lex state: a reduction is due whatever follows
  SCANNER_STATE_MAX = 1024, // bytes
};

// token_source is what a grammar's functions read text through: a TSLexer.
typedef struct token_source token_source;
struct token_source {
  int32_t lookahead; // the character at hand, 0 at the end
  uint16_t symbol;   // of the token, when one is found
  void (*advance)(token_source *, bool skip);
  void (*mark_end)(token_source *);
  uint32_t (*get_column)(token_source *);
  bool (*is_at_included_range_start)(const token_source *);
  bool (*eof)(const token_source *);
};

typedef struct {
  bool visible, named, supertype;
} symbol_metadata;

typedef struct {
  uint16_t field;
  uint8_t child;
  bool inherited;
} field_entry;

typedef struct {
  uint16_t index, length;
} field_slice;

enum { SHIFT, REDUCE, ACCEPT, RECOVER };

// action is what to do in a state at a token. The first of a list of them is a
// header: how many there are.
typedef union {
  uint8_t type;
  struct {
    uint8_t type;
    uint16_t state;
    bool extra, repetition;
  } shift;
  struct {
    uint8_t type, child_count;
    uint16_t symbol;
    int16_t precedence;
    uint16_t production;
  } reduce;
  struct {
    uint8_t count;
    bool reusable; // a token found in another state can be used in this one
  } header;
} action;

typedef struct {
  uint16_t lex_state, external_lex_state;
} lex_mode;

typedef struct {
  uint32_t version, symbol_count, alias_count, token_count, external_token_count;
  uint32_t state_count, large_state_count, production_count, field_count;
  uint16_t max_alias_sequence;
  const uint16_t *parse_table, *small_parse_table; // by state and symbol; see table_value
  const uint32_t *small_parse_table_map;
  const action *actions;
  const char *const *symbol_names, *const *field_names;
  const field_slice *field_slices;
  const field_entry *field_entries;
  const symbol_metadata *symbols;
  const uint16_t *public_symbols;
  const uint16_t *alias_map;
  const uint16_t *alias_sequences; // by production
  const lex_mode *lex_modes;       // by state
  bool (*lex)(token_source *, uint16_t lex_state);
  bool (*lex_keyword)(token_source *, uint16_t lex_state);
  uint16_t keyword_capture; // the token that keywords are found in
  struct {
    const bool *enabled; // by external lex state and token
    const uint16_t *symbols;
    void *(*create)(void);
    void (*destroy)(void *);
    bool (*scan)(void *, token_source *, const bool *enabled);
    unsigned (*serialize)(void *, char *);
    void (*deserialize)(void *, const char *, unsigned);
  } scanner;
  const uint16_t *primary_states; // ABI 14 only; not read here
} grammar;

// table_value is the index of the actions for a token in a state, or the state
// that follows a symbol of rules; 0 for none. States beyond the large ones list
// symbols by value.
static inline uint16_t table_value(const grammar *g, uint16_t state, uint16_t symbol) {
  if (state < g->large_state_count) {
    return g->parse_table[state * g->symbol_count + symbol];
  }
  const uint16_t *data = g->small_parse_table + g->small_parse_table_map[state - g->large_state_count];
  for (unsigned groups = *data++; groups > 0; groups--) {
    uint16_t value = *data++;
    for (const uint16_t *end = data + 1 + *data; ++data < end;) {
      if (*data == symbol) {
        return value;
      }
    }
  }
  return 0;
}

#endif
