// Parses by tree-sitter, with bounds of time, memory and stack.

#include "flatten.h"

#include "clock.h"
#include "deep.h"
#include "guard.h"

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
  const TSInputEdit *edit;
  const char *text;
  uint32_t length;
  uint64_t limit;
  int64_t room;
  TSTree *tree;
  uint64_t took; // microseconds of the processor
} job;

// source is the text of a parse. A scanner that looks for the end of a string reads on to
// the end of the text, from each place where a string might go on, within one step of the
// parser, without taking memory: 40 KB of Lua took 17 seconds. So the text comes in pieces,
// and ends where the time does.
typedef struct {
  const job *job;
  uint32_t pieces;
  uint32_t end; // of the last piece, in the text
  bool cut;     // the time is over
  bool ended;   // and the parser was told that the text is
} source;

enum { CHARACTER = 4 }; // bytes of a long one

// next_piece ends the text where the time does, but in two places. tree-sitter does not look
// whether it gets something: where the end of a piece breaks off a character, which it asks
// for anew and reads; and where it goes back to the beginning of a line, to count its columns.
// There it would leave a scanner with a character that never ends. It gets a few bytes more.
static const char *next_piece(void *payload, uint32_t at, TSPoint point, uint32_t *length) {
  source *s = payload;
  if (++s->pieces % LOOK == 0 && quarry_out_of_time()) {
    s->cut = true;
  }
  uint32_t left = at < s->job->length ? s->job->length - at : 0;
  if (!s->cut) {
    *length = left < PIECE ? left : PIECE;
    s->end = at + *length;
  } else if (!s->ended && s->end - at < CHARACTER) { // never where at is behind the end
    *length = s->end - at;
  } else if (!s->ended && point.column == 0) {
    *length = left < CHARACTER ? left : CHARACTER - 1;
  } else {
    *length = 0;
  }
  s->ended = s->cut && *length == 0;
  return *length > 0 ? s->job->text + at : "";
}

// whole parses a text to its end, or leaves where a bound is met.
static void whole(job *j) {
  TSTree *old = NULL;
  if (j->old != NULL) {
    old = ts_tree_copy(j->old);
    ts_tree_edit(old, j->edit);
  }
  TSParser *parser = ts_parser_new();
  ts_parser_set_language(parser, j->language);
  source text = {.job = j};
  TSTree *tree = ts_parser_parse(parser, old, (TSInput){.payload = &text, .read = next_piece, .encoding = TSInputEncodingUTF8});
  quarry_bound(NULL);
  ts_parser_delete(parser);
  ts_tree_delete(old);
  if (text.cut) { // of a part of the text
    ts_tree_delete(tree);
  } else {
    j->tree = tree;
  }
}

// parse does a job. tree-sitter looks at the clock between its steps, and where a text
// ends in errors the last one puts together all the ways in which it might have been read:
// 48 KB of `%w[` in C took a minute. So the parse is left from within, where it takes
// memory, and what it took is the arena's.
static void parse(void *argument) {
  job *j = argument;
  uint64_t began = quarry_thread_micros();
  int64_t memory = MEMORY + (int64_t)MEMORY_PER_BYTE * j->length;
  quarry_bounds bounds = {.memory = memory < j->room ? memory : j->room, .until = began + j->limit};
  quarry_arena_use(j->arena);
  quarry_bound(&bounds);
  if (quarry_mark(&bounds) == 0) {
    whole(j);
  } else {
    quarry_bound(NULL);
    quarry_close_scanner();
  }
  quarry_arena_use(NULL);
  j->took = quarry_thread_micros() - began;
}

// quarry_parse_tree parses any text, with the help of an older tree of the arena and of
// what was edited since, if there is one. The tree is in the arena. It is NULL if the
// parse took limit microseconds of the processor and more, or too much memory, of which it
// may take room bytes at most, and as many for its stack: what such a parse took stays
// taken, and references of its own to the older tree's nodes stay counted, so that these
// vanish with the arena only. What it took of the processor is told where took is not NULL.
// tree-sitter itself looks at the wall's clock, by which a busy machine would decide
// how a file is read; so its memory looks at the thread's.
//
// tree-sitter's stack.c recurses once for each token where two readings of a text
// that nests deep become one. An overflow would end the program, so that the stack is
// as large as the text may need it.
TSTree *quarry_parse_tree(quarry_arena *arena, const TSLanguage *language, const TSTree *old, const TSInputEdit *edit, const char *text, uint32_t length, uint64_t limit, int64_t room, uint64_t *took) {
  job j = {arena, language, old, edit, text, length, limit, room, NULL, 0};
  if (length < SHALLOW) {
    parse(&j);
  } else if (STACK + (int64_t)STACK_PER_BYTE * length <= room) {
    quarry_on_stack(STACK + (size_t)STACK_PER_BYTE * length, parse, &j);
  }
  if (took != NULL) {
    *took = j.took;
  }
  return j.tree;
}

// quarry_parse_needs is the room with which the parse of a text takes what it may anyway.
int64_t quarry_parse_needs(int64_t length) {
  int64_t memory = MEMORY + MEMORY_PER_BYTE * length, stack = STACK + STACK_PER_BYTE * length;
  return memory > stack ? memory : stack;
}

// quarry_delete_tree frees what no other tree of the arena shares.
void quarry_delete_tree(quarry_arena *arena, TSTree *tree) {
  quarry_arena_use(arena);
  ts_tree_delete(tree);
  quarry_arena_use(NULL);
}
