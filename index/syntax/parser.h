// The parts of glr.c, which says what they are for: trees.c makes trees, versions.c
// keeps the readings of a text.
#ifndef QUARRY_PARSER_H
#define QUARRY_PARSER_H

#include "lexer.h"
#include "stack.h"

enum {
  MAX_VERSIONS = 6,  // kept after each token
  MAX_OVERFLOW = 10, // ... and while reductions of one token are made
  MAX_HEADS = 128,
  MAX_WALKS = 64, // ways down a stack that are followed at once
  MAX_PATHS = 256,
  KNOWN = 2048, // places for what was looked up in the tables
  TO_BOTTOM = UINT32_MAX,
};

typedef enum { ACTIVE, PAUSED, HALTED } status;

// head is the top of one stack: one reading of the text so far.
typedef struct {
  stack_node *node;
  scanner_state scanner; // behind the last token that the scanner found
  status status;         // PAUSED: nothing can follow in this reading
} head;

// cell is an item of the list of trees on a way down a stack, the lowest first.
// Ways that part share the cells above.
typedef struct cell cell;
struct cell {
  subtree tree;
  cell *next;
};

// walk is a way down a stack in the making, path a finished one: the trees on it
// and the version whose stack is what remains.
typedef struct {
  stack_node *node;
  cell *trees;
  uint32_t count; // of trees that are no extras
} walk;

typedef struct {
  cell *trees;
  int version;
} path;

// token_cache is the last token found: versions mostly read the same.
typedef struct {
  subtree token;
  uint32_t position;
  scanner_state scanner;
  bool filled;
} token_cache;

typedef struct {
  subtree a, b;
} pair;

typedef struct {
  const grammar *g;
  pool memory;
  const int32_t *raised; // see quarry_arena_pause
  int64_t budget; // of steps: of about the time that it takes to look at a tree

  stack_nodes nodes;
  pair *pairs; // of trees to compare
  uint32_t pair_room;
  lexer lexer;
  head heads[MAX_HEADS];
  int head_count;
  walk walks[MAX_WALKS];
  path paths[MAX_PATHS];
  int path_count;
  token_cache cache;
  subtree finished; // tree is NULL until a reading is accepted
  bool gave_up;
  struct {
    uint32_t key; // state and symbol
    uint32_t value;
  } known[KNOWN]; // see lookup
} parser;

// lookup is table_value, which searches a list in most states, with a memory: a
// text comes through few states most of the time.
static inline uint16_t lookup(parser *p, uint16_t state, uint16_t symbol) {
  uint32_t key = (uint32_t)state << 16 | symbol, at = (state * 61u + symbol) % KNOWN;
  if (p->known[at].key != key) {
    p->known[at].key = key;
    p->known[at].value = table_value(p->g, state, symbol);
  }
  return p->known[at].value;
}

// spend takes steps off the budget, and gives up where they or the memory are
// more than any text of a language needs. Between two steps a parse may stand still.
static inline void spend(parser *p, uint32_t steps) {
  if (__atomic_load_n(p->raised, __ATOMIC_RELAXED) != 0) {
    quarry_arena_pass(p->memory.arena);
  }
  p->budget -= steps;
  p->gave_up = p->gave_up || p->budget < 0 || p->memory.left < 0 || p->nodes.tangled;
}

// leaf_of makes a tree of a token that stands after position; state is the one
// it was looked for in.
subtree leaf_of(parser *p, const found *token, uint32_t position, uint16_t state);

// changed_leaf answers a token that is an extra, or has another symbol.
subtree changed_leaf(parser *p, subtree token, uint16_t symbol, bool extra);

// new_node makes room for a tree and its children, which stand before it and are
// to be set before it is summarised: that sets what follows from them.
tree *new_node(parser *p, uint16_t symbol, uint16_t production, uint32_t child_count);
void summarise(const parser *p, tree *t);

// prefers_second tells whether the second of two trees for the same text wins.
bool prefers_second(parser *p, subtree a, subtree b);

void remove_version(parser *p, int version);

// move_version puts version from, a later one, in the place of version to.
void move_version(parser *p, int from, int to);

bool can_merge(const head *a, const head *b);

// merge_versions makes two versions one if nothing tells them apart but how they
// came there.
bool merge_versions(parser *p, int into, int from);

// pop finds all ways down a stack that take count trees off it, extras not
// counted, or that lead to the bottom. The versions it makes are the last ones.
void pop(parser *p, int version, uint32_t count);

// condense drops the versions that have ended, merges those that came to the same
// and orders the rest, the best first. It answers whether one can go on.
bool condense(parser *p);

static inline void push(parser *p, int version, subtree tree, uint16_t state) {
  p->heads[version].node = stack_push(&p->nodes, p->heads[version].node, tree, state);
}

#endif


