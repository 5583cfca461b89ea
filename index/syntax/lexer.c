#include "lexer.h"

#include <stddef.h>

#include "clock.h"

enum {
  UNMARKED = UINT32_MAX,
  BYTE_ORDER_MARK = 0xFEFF,
  SCANS_PER_CHECK = 256, // of the clock
};

static bool continues(uint8_t byte) { return (byte & 0xC0) == 0x80; }

// decode reads the character of several bytes at hand.
static void decode(lexer *l) {
  const uint8_t *s = l->text + l->at;
  uint32_t left = l->length - l->at;
  if (s[0] >= 0xC2 && s[0] < 0xE0 && left >= 2 && continues(s[1])) {
    l->width = 2;
    l->source.lookahead = (s[0] & 0x1F) << 6 | (s[1] & 0x3F);
  } else if (s[0] >= 0xE0 && s[0] < 0xF0 && left >= 3 && continues(s[1]) && continues(s[2]) &&
             (s[0] != 0xE0 || s[1] >= 0xA0) && (s[0] != 0xED || s[1] < 0xA0)) {
    l->width = 3;
    l->source.lookahead = (s[0] & 0x0F) << 12 | (s[1] & 0x3F) << 6 | (s[2] & 0x3F);
  } else if (s[0] >= 0xF0 && s[0] < 0xF5 && left >= 4 && continues(s[1]) && continues(s[2]) && continues(s[3]) &&
             (s[0] != 0xF0 || s[1] >= 0x90) && (s[0] != 0xF4 || s[1] < 0x90)) {
    l->width = 4;
    l->source.lookahead = (s[0] & 0x07) << 18 | (s[1] & 0x3F) << 12 | (s[2] & 0x3F) << 6 | (s[3] & 0x3F);
  } else {
    l->width = 1;
    l->source.lookahead = -1;
    l->unfit = true;
  }
}

static void look(lexer *l) {
  if (l->at >= l->length) {
    l->source.lookahead = 0;
  } else if (l->text[l->at] < 0x80) {
    l->source.lookahead = l->text[l->at];
    l->width = 1;
  } else {
    decode(l);
  }
}

static void advance(token_source *source, bool skip) {
  lexer *l = (lexer *)source;
  if (l->at >= l->length) {
    return;
  }
  l->at += l->width;
  if (skip) {
    l->start = l->at;
  }
  look(l);
}

static void mark_end(token_source *source) {
  lexer *l = (lexer *)source;
  l->end = l->at;
}

static bool at_end(const token_source *source) {
  const lexer *l = (const lexer *)source;
  return l->at >= l->length;
}

static bool at_range_start(const token_source *source) {
  const lexer *l = (const lexer *)source;
  return l->at == 0 && l->length > 0;
}

// column counts the characters before the one at hand in its line.
static uint32_t column(token_source *source) {
  lexer *l = (lexer *)source;
  if (l->at >= l->length) {
    l->unfit = true; // the real lexer steps back there
  }
  uint32_t count = 0, i = l->at;
  for (; i > 0 && l->text[i - 1] != '\n'; i--) {
    count += !continues(l->text[i - 1]);
  }
  l->looked += l->at - i;
  return count;
}

void lexer_init(lexer *l, const grammar *g, const char *text, uint32_t length) {
  l->source = (token_source){
    .advance = advance, .mark_end = mark_end, .get_column = column, .is_at_included_range_start = at_range_start, .eof = at_end,
  };
  l->text = (const uint8_t *)text;
  l->length = length;
  l->unfit = false;
  l->looked = 0;
  l->scans = 0;
  l->deadline = quarry_thread_micros() + 200000 + length;
  l->scanner = g->scanner.enabled != NULL && g->scanner.create != NULL ? g->scanner.create() : NULL;
}

void lexer_close(lexer *l, const grammar *g) {
  if (l->scanner != NULL && g->scanner.destroy != NULL) {
    g->scanner.destroy(l->scanner);
  }
}

static void begin(lexer *l, uint32_t at) {
  l->at = l->start = at;
  l->end = UNMARKED;
  l->source.symbol = 0;
  look(l);
  if (at == 0 && l->source.lookahead == BYTE_ORDER_MARK) {
    advance(&l->source, true);
  }
}

static void finish(lexer *l, uint32_t began) {
  l->looked += l->at - began;
  if (l->end == UNMARKED) {
    l->end = l->at;
  }
  if (l->end < l->start) {
    l->start = l->end;
  }
}

// scan asks the scanner, whose work cannot be counted in steps: that of HTML
// allocates all elements around a token anew to find it.
static bool scan(lexer *l, const grammar *g, uint16_t external_state, uint32_t at, scanner_state before) {
  if (++l->scans % SCANS_PER_CHECK == 0 && quarry_thread_micros() > l->deadline) {
    l->unfit = true;
  }
  begin(l, at);
  g->scanner.deserialize(l->scanner, before.data, before.length);
  bool ok = g->scanner.scan(l->scanner, &l->source, g->scanner.enabled + g->external_token_count * external_state);
  finish(l, at);
  return ok;
}

// find looks for a token that one lex mode allows.
static bool find(lexer *l, const grammar *g, lex_mode mode, uint32_t at, scanner_state before, bool any, found *token) {
  if (mode.external_lex_state != 0 && scan(l, g, mode.external_lex_state, at, before)) {
    *token = (found){.start = l->start, .end = l->end, .symbol = g->scanner.symbols[l->source.symbol], .external = true};
    token->state = (scanner_state){l->state, g->scanner.serialize(l->scanner, l->state)};
    if (!any || token->end > at || !scanner_state_equal(token->state, before)) {
      return true;
    }
  }
  begin(l, at);
  bool ok = g->lex(&l->source, mode.lex_state);
  finish(l, at);
  *token = (found){.start = l->start, .end = l->end, .symbol = l->source.symbol};
  return ok;
}

bool lexer_find(lexer *l, const grammar *g, uint16_t state, uint32_t at, scanner_state before, found *token) {
  if (!find(l, g, g->lex_modes[state], at, before, false, token) && !find(l, g, g->lex_modes[ERROR_STATE], at, before, true, token)) {
    return false;
  }
  if (!token->external && token->symbol == g->keyword_capture && token->symbol != 0) {
    begin(l, token->start);
    token->keyword = g->lex_keyword(&l->source, 0);
    if (token->keyword && l->end == token->end && table_value(g, state, l->source.symbol) != 0) {
      token->symbol = l->source.symbol;
    }
  }
  return true;
}
