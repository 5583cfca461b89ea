#ifndef QUARRY_LEXER_H
#define QUARRY_LEXER_H

#include "tree.h"

// lexer finds tokens in a text of UTF-8 that lies in memory as a whole, for up to
// 0.2 s and a microsecond a byte, several times of what a text takes.
typedef struct {
  token_source source; // first: the grammar's functions get its address
  const uint8_t *text;
  uint32_t length, at, width; // of the text; of the character at hand
  uint32_t start, end;        // of the token
  bool unfit;                 // the text needs the real lexer, or its time is up
  uint64_t looked;            // bytes that were looked at, again for each token
  uint64_t deadline;          // of the thread's clock, microseconds
  uint32_t scans;             // calls of the scanner
  void *scanner;              // of languages that have one, else NULL
  char state[SCANNER_STATE_MAX]; // the scanner's
} lexer;

// found is a token.
typedef struct {
  uint32_t start, end; // bytes
  uint16_t symbol;
  bool keyword;  // the text is one of a keyword, whether or not one can stand here
  bool external; // found by the scanner
  scanner_state state; // behind it, if external; valid until the next one is found
} found;

void lexer_init(lexer *l, const grammar *g, const char *text, uint32_t length);
void lexer_close(lexer *l, const grammar *g);

// lexer_find finds the token at or after a byte that a state expects; failing
// that, any token of the language. before is how the scanner left the token before.
// It answers false if there is none.
bool lexer_find(lexer *l, const grammar *g, uint16_t state, uint32_t at, scanner_state before, found *token);

#endif
