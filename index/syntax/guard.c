// Guarded scanners. A grammar's scanner writes its state, in which it counts what is
// open around a token, to 1024 bytes of its caller's. Most take care where these end;
// some write on, abort, or write what they cannot read: a line of 300 '>' is enough.
// A state is therefore read here first, with room behind it, and a token whose state
// is too long is none. Both parsers are given the guarded grammar.

#include "guard.h"

#include <stdlib.h>
#include <string.h>

#include "grammar.h"

enum {
  ROOM = SCANNER_STATE_MAX + 64, // a state grows by less with each token, but for those whose length is looked at
  MOST = SCANNER_STATE_MAX - 1,  // Kotlin's aborts where its state is full
  RUBYS_MOST = 261,              // it keeps a word's length in a byte, and the word 6 bytes behind the beginning
};

// kind is what there is to know of one grammar's scanner.
typedef struct {
  const TSLanguage *(*language)(void);
  unsigned most;   // bytes of a state
  bool own_memory; // it has a number, and takes no memory for it
  bool forgets;    // it forgets what it took when it is given another state
} kind;

typedef struct {
  const kind *kind;
  const grammar *g;
  void *real;
  uint64_t memory; // real, for a kind with own_memory
  bool holds;      // something to forget
  unsigned length;
  char state[ROOM]; // behind the last token
} scanner;

static void open_real(scanner *s) {
  s->memory = 0;
  s->real = s->kind->own_memory ? &s->memory : s->g->scanner.create();
  s->holds = false;
}

static void close_real(scanner *s) {
  if (!s->kind->own_memory) {
    s->g->scanner.destroy(s->real);
  }
}

static void *create(const kind *kind) {
  scanner *s = ts_current_malloc(sizeof(scanner));
  s->kind = kind;
  s->g = (const grammar *)kind->language();
  s->length = 0;
  open_real(s);
  return s;
}

static void destroy(void *payload) {
  close_real(payload);
  ts_current_free(payload);
}

static bool scan(void *payload, token_source *source, const bool *enabled) {
  scanner *s = payload;
  if (!s->g->scanner.scan(s->real, source, enabled)) {
    return false;
  }
  s->holds = true;
  s->length = s->g->scanner.serialize(s->real, s->state);
  return s->length <= s->kind->most;
}

static unsigned serialize(void *payload, char *state) {
  const scanner *s = payload;
  memcpy(state, s->state, s->length);
  return s->length;
}

static void deserialize(void *payload, const char *state, unsigned length) {
  scanner *s = payload;
  if (s->kind->forgets && s->holds) {
    close_real(s);
    open_real(s);
  }
  s->holds = length > 0;
  s->g->scanner.deserialize(s->real, state, length);
}

// clang-format off
#define KINDS(X) \
  X(bash, .most = MOST) \
  X(c_sharp, .most = MOST) \
  X(cpp, .most = MOST) \
  X(css, .most = MOST) \
  X(dockerfile, .most = MOST) \
  X(elixir, .most = MOST) \
  X(hcl, .most = MOST) \
  X(html, .most = MOST) \
  X(javascript, .most = MOST) \
  X(kotlin, .most = MOST) \
  X(lua, .most = MOST) \
  X(markdown, .most = MOST) \
  X(php, .most = MOST) \
  X(python, .most = MOST) \
  X(ruby, .most = RUBYS_MOST) \
  X(rust, .most = MOST) \
  X(scala, .most = MOST) \
  X(sql, .most = MOST, .forgets = true) \
  X(swift, .most = MOST, .own_memory = true) \
  X(toml, .most = MOST) \
  X(tsx, .most = MOST) \
  X(typescript, .most = MOST) \
  X(yaml, .most = MOST)
// clang-format on

#define KIND(name, ...)                                                     \
  extern const TSLanguage *tree_sitter_##name(void);                        \
  static const kind name##_kind = {.language = tree_sitter_##name, __VA_ARGS__}; \
  static void *create_##name(void) { return create(&name##_kind); }
KINDS(KIND)

#define ROW(name, ...) {&name##_kind, create_##name},
static const struct {
  const kind *kind;
  void *(*create)(void);
} kinds[] = {KINDS(ROW)};

const TSLanguage *quarry_guard(const TSLanguage *language) {
  const grammar *g = (const grammar *)language;
  if (g->scanner.create == NULL) {
    return language;
  }
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    if (kinds[i].kind->language() != language) {
      continue;
    }
    grammar *guarded = calloc(1, sizeof(grammar));
    if (guarded != NULL) {
      // Grammars before version 14 end with their scanner.
      memcpy(guarded, g, g->version < 14 ? offsetof(grammar, primary_states) : sizeof(grammar));
      guarded->scanner.create = kinds[i].create;
      guarded->scanner.destroy = destroy;
      guarded->scanner.scan = scan;
      guarded->scanner.serialize = serialize;
      guarded->scanner.deserialize = deserialize;
    }
    return (const TSLanguage *)guarded;
  }
  return NULL;
}
