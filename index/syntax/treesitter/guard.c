// Guarded scanners. A grammar's scanner writes its state, in which it counts what is
// open around a token, to 1024 bytes of its caller's. Most take care where these end;
// some write on, abort, or write what they cannot read: a line of 300 '>' is enough.
// A state is therefore read here first, with room behind it, and a token whose state
// is too long is none. Both parsers are given the guarded grammar.
//
// A scanner is made by a function without arguments, so each guarded grammar takes one of
// SLOTS for itself.

#include "guard.h"

#include <stdlib.h>
#include <string.h>

#include "grammar.h"

enum {
  ROOM = SCANNER_STATE_MAX + 64, // a state grows by less with each token, but for those whose length is looked at
  MOST = SCANNER_STATE_MAX - 1,  // Kotlin's aborts where its state is full
};

typedef struct {
  const grammar *real;
  grammar *guarded;
  quarry_scanner is;
} kind;

typedef struct {
  const kind *kind;
  void *real;
  uint64_t memory; // real, for a kind with own_memory
  bool holds;      // something to forget
  unsigned length;
  char state[ROOM]; // behind the last token
} scanner;

// live is the scanner of the parse that the thread is in: what it has taken is not the arena's.
static _Thread_local scanner *live;

static void open_real(scanner *s) {
  s->memory = 0;
  s->real = s->kind->is.own_memory ? &s->memory : s->kind->real->scanner.create();
  s->holds = false;
}

static void close_real(scanner *s) {
  if (!s->kind->is.own_memory) {
    s->kind->real->scanner.destroy(s->real);
  }
}

static void *create(const kind *kind) {
  scanner *s = ts_current_malloc(sizeof(scanner));
  s->kind = kind;
  s->length = 0;
  quarry_stay(true);
  open_real(s);
  quarry_stay(false);
  live = s;
  return s;
}

static void destroy(void *payload) {
  live = NULL;
  close_real(payload);
  ts_current_free(payload);
}

void quarry_close_scanner(void) {
  if (live != NULL) {
    destroy(live);
  }
}

static bool scan(void *payload, token_source *source, const bool *enabled) {
  scanner *s = payload;
  quarry_stay(true);
  bool found = s->kind->real->scanner.scan(s->real, source, enabled);
  if (found) {
    s->holds = true;
    s->length = s->kind->real->scanner.serialize(s->real, s->state);
  }
  quarry_stay(false);
  return found && s->length <= s->kind->is.most;
}

static unsigned serialize(void *payload, char *state) {
  const scanner *s = payload;
  memcpy(state, s->state, s->length);
  return s->length;
}

static void deserialize(void *payload, const char *state, unsigned length) {
  scanner *s = payload;
  quarry_stay(true);
  if (s->kind->is.forgets && s->holds) {
    close_real(s);
    open_real(s);
  }
  s->holds = length > 0;
  s->kind->real->scanner.deserialize(s->real, state, length);
  quarry_stay(false);
}

// clang-format off
#define EIGHT(X, n) X(0##n##0) X(0##n##1) X(0##n##2) X(0##n##3) X(0##n##4) X(0##n##5) X(0##n##6) X(0##n##7)
#define SLOTS(X) EIGHT(X, 0) EIGHT(X, 1) EIGHT(X, 2) EIGHT(X, 3) EIGHT(X, 4) EIGHT(X, 5) EIGHT(X, 6) EIGHT(X, 7)
#define CREATE(i) static void *create_##i(void) { return create(&kinds[i]); }
#define CREATOR(i) create_##i,
// clang-format on

enum { KINDS = 64 };
static kind kinds[KINDS];
static size_t used;

SLOTS(CREATE)
static void *(*const creators[KINDS])(void) = {SLOTS(CREATOR)};

const TSLanguage *quarry_guard(const TSLanguage *language, quarry_scanner is) {
  const grammar *g = (const grammar *)language;
  if (g->scanner.create == NULL) {
    return language;
  }
  for (size_t i = 0; i < used; i++) {
    if (kinds[i].real == g) {
      return (const TSLanguage *)kinds[i].guarded;
    }
  }
  grammar *guarded = used < KINDS ? calloc(1, sizeof(grammar)) : NULL;
  if (guarded == NULL) {
    return NULL;
  }
  // Grammars before version 14 end with their scanner.
  memcpy(guarded, g, g->version < 14 ? offsetof(grammar, primary_states) : sizeof(grammar));
  guarded->scanner.create = creators[used];
  guarded->scanner.destroy = destroy;
  guarded->scanner.scan = scan;
  guarded->scanner.serialize = serialize;
  guarded->scanner.deserialize = deserialize;
  if (is.most == 0) {
    is.most = MOST;
  }
  kinds[used++] = (kind){g, guarded, is};
  return (const TSLanguage *)guarded;
}
