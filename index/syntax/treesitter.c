// Parses by tree-sitter itself: of texts with syntax errors, and of open documents.

#include "flatten.h"

#include "clock.h"
#include "deep.h"

enum {
  MEMORY = 64 << 20,
  MEMORY_PER_BYTE = 512, // of text
  SHALLOW = 1000,        // bytes of text that any thread's stack has room for
  STACK = 1 << 20,
  STACK_PER_BYTE = 256,
};

typedef struct {
  quarry_arena *arena;
  const TSLanguage *language;
  const TSTree *old;
  const char *text;
  uint32_t length;
  uint64_t limit, look;
  TSTree *tree;
} job;

// try_once returns whether another try, with more time, may end well.
static bool try_once(job *j, uint64_t look) {
  int64_t held = 0;
  quarry_arena_use(j->arena);
  quarry_count_memory(&held);
  TSParser *parser = ts_parser_new();
  ts_parser_set_language(parser, j->language);
  ts_parser_set_timeout_micros(parser, look);
  uint64_t begin = quarry_thread_micros();
  j->tree = ts_parser_parse_string(parser, j->old, j->text, j->length);
  uint64_t took = quarry_thread_micros() - begin;
  if (j->arena != NULL) {
    held = (int64_t)quarry_arena_size(j->arena);
  }
  int64_t most = MEMORY + (int64_t)MEMORY_PER_BYTE * j->length;
  bool again = j->tree == NULL && took < j->limit && held < most;
  ts_parser_delete(parser); // some scanners have memory that is not the arena's
  quarry_count_memory(NULL);
  quarry_arena_use(NULL);
  if (again && j->arena != NULL) {
    quarry_arena_reset(j->arena);
  }
  return again;
}

static void parse(void *argument) {
  job *j = argument;
  for (uint64_t look = j->look; try_once(j, look); look *= 2) {
  }
}

// quarry_parse_tree parses any text, with the help of an older tree if there is one.
// The tree is in the arena, without one the caller's to delete. It is NULL if the
// parse took limit microseconds of the processor and more, or too much memory.
// tree-sitter itself looks at the wall's clock, by which a busy machine would decide
// how a file is read. A parser that its clock stopped could go on where it was, but
// where a text has several readings it would begin with another one than it was at,
// and may choose another in the end. So a try that was stopped is made again from the
// start with twice the time; the first has look microseconds. A parser of its own for
// each try is cheap, and leaves nothing in the arena that would have to be kept.
//
// tree-sitter's stack.c recurses once for each token where two readings of a text
// that nests deep become one. An overflow would end the program, so that the stack is
// as large as the text may need it.
TSTree *quarry_parse_tree(quarry_arena *arena, const TSLanguage *language, const TSTree *old, const char *text, uint32_t length, uint64_t limit, uint64_t look) {
  job j = {arena, language, old, text, length, limit, look, NULL};
  if (length < SHALLOW) {
    parse(&j);
  } else {
    quarry_on_stack(STACK + (size_t)STACK_PER_BYTE * length, parse, &j);
  }
  return j.tree;
}
