// Parses by tree-sitter, with bounds of time, memory and stack.

#include "flatten.h"

#include "clock.h"
#include "deep.h"

enum {
  MEMORY = 64 << 20,
  MEMORY_PER_BYTE = 512, // of text
  SHALLOW = 1000,        // bytes of text that any thread's stack has room for
  STACK = 1 << 20,
  STACK_PER_BYTE = 256,
  PIECE = 1 << 10, // of text, that a parser is given at once
  LOOK = 16,       // pieces between two looks at the clock
};

typedef struct {
  quarry_arena *arena;
  const TSLanguage *language;
  const TSTree *old;
  const char *text;
  uint32_t length;
  uint64_t limit;
  TSTree *tree;
  uint64_t took; // microseconds of the processor
} job;

// source is the text of a parse. A scanner that looks for the end of a string reads on to
// the end of the text, from each place where a string might go on, within one step of the
// parser, which does not look at its flag meanwhile: 40 KB of Lua took 17 seconds. So the
// text comes in pieces, and ends where the time does.
typedef struct {
  const job *job;
  uint32_t pieces;
  bool cut;
} source;

static const char *next_piece(void *payload, uint32_t at, TSPoint point, uint32_t *length) {
  (void)point;
  source *s = payload;
  if (++s->pieces % LOOK == 0 && quarry_out_of_time()) {
    s->cut = true;
  }
  if (s->cut || at >= s->job->length) {
    *length = 0;
    return "";
  }
  uint32_t left = s->job->length - at;
  *length = left < PIECE ? left : PIECE;
  return s->job->text + at;
}

static void parse(void *argument) {
  job *j = argument;
  uint64_t began = quarry_thread_micros();
  quarry_bounds bounds = {.memory = MEMORY + (int64_t)MEMORY_PER_BYTE * j->length, .until = began + j->limit};
  quarry_arena_use(j->arena);
  quarry_bound(&bounds);
  TSParser *parser = ts_parser_new();
  ts_parser_set_language(parser, j->language);
  ts_parser_set_cancellation_flag(parser, &bounds.over);
  source text = {.job = j};
  j->tree = ts_parser_parse(parser, j->old, (TSInput){.payload = &text, .read = next_piece, .encoding = TSInputEncodingUTF8});
  if (text.cut && j->tree != NULL) { // of a part of the text
    ts_tree_delete(j->tree);
    j->tree = NULL;
  }
  ts_parser_delete(parser); // some scanners have memory that is not the arena's
  quarry_bound(NULL);
  quarry_arena_use(NULL);
  j->took = quarry_thread_micros() - began;
}

// quarry_parse_tree parses any text, with the help of an older tree if there is one.
// The tree is in the arena, without one the caller's to delete. It is NULL if the
// parse took limit microseconds of the processor and more, or too much memory. What it
// took is told where took is not NULL.
// tree-sitter itself looks at the wall's clock, by which a busy machine would decide
// how a file is read; so its memory looks at the thread's.
//
// tree-sitter's stack.c recurses once for each token where two readings of a text
// that nests deep become one. An overflow would end the program, so that the stack is
// as large as the text may need it.
TSTree *quarry_parse_tree(quarry_arena *arena, const TSLanguage *language, const TSTree *old, const char *text, uint32_t length, uint64_t limit, uint64_t *took) {
  job j = {arena, language, old, text, length, limit, NULL, 0};
  if (length < SHALLOW) {
    parse(&j);
  } else {
    quarry_on_stack(STACK + (size_t)STACK_PER_BYTE * length, parse, &j);
  }
  if (took != NULL) {
    *took = j.took;
  }
  return j.tree;
}
