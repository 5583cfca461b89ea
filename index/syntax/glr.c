// A parser for texts that are read once and hold no syntax errors, which is nearly
// all that an index reads. It runs the tables of tree-sitter's grammars to the very
// trees that tree-sitter's own runtime makes, for half of the time: it keeps nothing
// for a later edit, counts no references to trees, recovers from nothing, and is
// compiled as one. At the first token that no reading of the text allows it gives
// up, and the text is tree-sitter's.
//
// The method is that of M. Tomita, "Efficient Parsing for Natural Language" (1985),
// with tree-sitter's rules for which reading wins; they decide what a tree looks
// like, so that each step here has its counterpart in tree-sitter's parser.c.
// TestGLREqualsTreeSitter holds the two against each other.

#include "glr.h"

#include <string.h>

#include "parser.h"

enum {
  NO_VERSION = -1,
  // More is a text that is not what its name says.
  STEPS_PER_BYTE = 32,
  MEMORY_PER_BYTE = 256,
  LOOKS_PER_STEP = 8, // characters
};

static uint32_t list_length(const cell *list) {
  uint32_t n = 0;
  for (; list != NULL; list = list->next) {
    n++;
  }
  return n;
}

// node_of_list makes a tree of a list of children.
static tree *node_of_list(parser *p, uint16_t symbol, uint16_t production, const cell *list, uint32_t count) {
  spend(p, count);
  tree *t = new_node(p, symbol, production, count);
  subtree *children = (subtree *)t - count;
  for (uint32_t i = 0; i < count; i++, list = list->next) {
    children[i] = list->tree;
  }
  summarise(p, t);
  return t;
}

// without_extras answers how many trees of a list there are up to the last that is
// no extra; rest is the list of what follows.
static uint32_t without_extras(cell *list, cell **rest) {
  uint32_t count = 0, n = 0;
  *rest = list;
  for (cell *c = list; c != NULL; c = c->next) {
    n++;
    if (!tree_extra(c->tree)) {
      count = n;
      *rest = c->next;
    }
  }
  return count;
}

// finish_parent sets what depends on where a new tree comes to stand, and answers
// the state behind it.
static uint16_t finish_parent(parser *p, tree *parent, const action *a, uint16_t below, bool ends_extra) {
  uint16_t state = lookup(p, below, a->reduce.symbol);
  parent->extra = ends_extra && state == below;
  if (parent->child_count > 0) {
    parent->precedence += a->reduce.precedence;
  }
  return state;
}

// reduce_all makes a version of each way down a stack that an action allows. It
// answers the first of them, NO_VERSION if all became one with earlier ones.
static int reduce_all(parser *p, int version, const action *a, bool ends_extra) {
  int initial = p->head_count;
  pop(p, version, a->reduce.child_count);
  int removed = 0;
  for (int i = 0; i < p->path_count && !p->gave_up; i++) {
    int first = i, v = p->paths[i].version - removed;
    while (i + 1 < p->path_count && p->paths[i + 1].version == p->paths[first].version) {
      i++;
    }
    if (v > MAX_OVERFLOW) {
      remove_version(p, v);
      removed++;
      continue;
    }
    cell *extras;
    uint32_t count = without_extras(p->paths[first].trees, &extras);
    tree *parent = node_of_list(p, a->reduce.symbol, a->reduce.production, p->paths[first].trees, count);
    for (int other = first + 1; other <= i; other++) {
      cell *others;
      count = without_extras(p->paths[other].trees, &others);
      tree *t = node_of_list(p, a->reduce.symbol, a->reduce.production, p->paths[other].trees, count);
      if (prefers_second(p, (subtree){.tree = parent}, (subtree){.tree = t})) {
        parent = t;
        extras = others;
      }
    }
    uint16_t state = finish_parent(p, parent, a, p->heads[v].node->state, ends_extra);
    push(p, v, (subtree){.tree = parent}, state);
    for (; extras != NULL; extras = extras->next) {
      push(p, v, extras->tree, state);
    }
    for (int j = 0; j < v; j++) {
      if (j != version && merge_versions(p, j, v)) {
        removed++;
        break;
      }
    }
  }
  return p->head_count > initial ? initial : NO_VERSION;
}

// reduce_straight is reduce_all and move_version in one for an action that is the
// only one, where there is one way down. It answers false if there are more.
static bool reduce_straight(parser *p, int version, const action *a, bool ends_extra, bool *merged) {
  head *h = &p->heads[version];
  uint32_t wanted = a->reduce.child_count, extras = 0, count = 0;
  stack_node *below = h->node;
  if (p->head_count > MAX_OVERFLOW) {
    return false;
  }
  for (; wanted > 0; below = below->first.node) {
    if (below->link_count != 1) {
      return false;
    }
    bool extra = tree_extra(below->first.tree);
    wanted -= !extra;
    if (extra && count == 0) {
      extras++;
    } else {
      count++;
    }
  }
  spend(p, count + extras);
  tree *parent = new_node(p, a->reduce.symbol, a->reduce.production, count);
  subtree *child = (subtree *)parent;
  subtree *trailing = pool_take(&p->memory, extras * sizeof(subtree));
  const stack_node *n = h->node;
  for (uint32_t i = extras; i > 0; i--, n = n->first.node) {
    trailing[i - 1] = n->first.tree;
  }
  for (; n != below; n = n->first.node) {
    *--child = n->first.tree;
  }
  summarise(p, parent);
  uint16_t state = finish_parent(p, parent, a, below->state, ends_extra);
  below->references++;
  head reduced = {stack_push(&p->nodes, below, (subtree){.tree = parent}, state), h->scanner, ACTIVE};
  for (uint32_t i = 0; i < extras; i++) {
    reduced.node = stack_push(&p->nodes, reduced.node, trailing[i], state);
  }
  *merged = false;
  for (int j = 0; j < p->head_count; j++) {
    if (j != version && can_merge(&p->heads[j], &reduced)) {
      stack_merge(&p->nodes, p->heads[j].node, reduced.node);
      stack_release(&p->nodes, reduced.node);
      *merged = true;
      return true;
    }
  }
  stack_release(&p->nodes, h->node);
  *h = reduced;
  return true;
}

// accept closes a reading of the whole text: the trees beside its root, which are
// extras, become the root's.
static void accept(parser *p, int version, subtree end) {
  push(p, version, end, 1);
  pop(p, version, TO_BOTTOM);
  if (p->gave_up) {
    return; // there may be no path
  }
  for (int i = 0; i < p->path_count; i++) {
    cell *list = p->paths[i].trees, *top = NULL;
    for (cell *c = list; c != NULL; c = c->next) {
      top = tree_extra(c->tree) ? top : c;
    }
    if (top == NULL || top->tree.leaf.is_leaf) {
      p->gave_up = true;
      return;
    }
    uint32_t inner = tree_child_count(top->tree), count = list_length(list) - 1 + inner;
    tree *root = new_node(p, top->tree.tree->symbol, top->tree.tree->production, count);
    subtree *child = (subtree *)root - count;
    for (cell *c = list; c != NULL; c = c->next) {
      if (c == top) {
        memcpy(child, tree_children(top->tree), inner * sizeof(subtree));
        child += inner;
      } else {
        *child++ = c->tree;
      }
    }
    summarise(p, root);
    if (p->finished.tree == NULL || prefers_second(p, p->finished, (subtree){.tree = root})) {
      p->finished.tree = root;
    }
  }
  remove_version(p, p->paths[0].version);
  p->heads[version].status = HALTED;
}

static const action *actions_for(parser *p, uint16_t state, uint16_t symbol) {
  return p->g->actions + lookup(p, state, symbol);
}

// can_reuse tells whether a token that was found in another state is what would be
// found in this one.
static bool can_reuse(parser *p, subtree token, uint16_t state) {
  lex_mode here = p->g->lex_modes[state], there = p->g->lex_modes[tree_state(token)];
  const action *header = actions_for(p, state, tree_symbol(token));
  if (here.lex_state == NO_LOOKAHEAD) {
    return false;
  }
  if (header->header.count > 0 && here.lex_state == there.lex_state && here.external_lex_state == there.external_lex_state &&
      (tree_symbol(token) != p->g->keyword_capture || (!tree_keyword(token) && tree_state(token) == state))) {
    return true;
  }
  if (tree_size(token) == 0 && tree_symbol(token) != SYMBOL_END) {
    return false;
  }
  return here.external_lex_state == 0 && header->header.reusable;
}

// next_token finds the token that follows a version's stack. Its tree is NULL if
// there is none.
static subtree next_token(parser *p, const head *h, uint16_t state) {
  found token;
  uint64_t looked = p->lexer.looked;
  p->cache.filled = lexer_find(&p->lexer, p->g, state, h->node->position, h->scanner, &token);
  spend(p, (uint32_t)((p->lexer.looked - looked) / LOOKS_PER_STEP));
  p->gave_up = p->gave_up || p->lexer.unfit;
  if (!p->cache.filled || p->gave_up) {
    return (subtree){.tree = NULL};
  }
  p->cache = (token_cache){leaf_of(p, &token, h->node->position, state), h->node->position, h->scanner, true};
  return p->cache.token;
}

static void shift(parser *p, int version, subtree token, uint16_t state, bool extra) {
  if (extra != tree_extra(token)) {
    token = changed_leaf(p, token, tree_symbol(token), extra);
  }
  push(p, version, token, state);
  if (tree_external(token)) {
    p->heads[version].scanner = tree_scanner_state(token);
  }
}

// only_reduces tells whether the first of a list of actions is the only one:
// shifts that repeat a list are there for error recovery.
static bool only_reduces(const action *list) {
  return list->header.count == 1 || (list->header.count == 2 && list[2].type == SHIFT && list[2].shift.repetition);
}

// advance takes a version as far as its next token.
static void advance(parser *p, int version) {
  head *h = &p->heads[version];
  uint16_t state = h->node->state;
  subtree token = {.tree = NULL};
  token_cache *cache = &p->cache;
  if (cache->filled && cache->position == h->node->position && scanner_state_equal(cache->scanner, h->scanner) &&
      can_reuse(p, cache->token, state)) {
    token = cache->token;
  }
  bool has_token = token.tree != NULL, look = !has_token;
  const action *list = has_token ? actions_for(p, state, tree_symbol(token)) : NULL;
  for (;;) {
    spend(p, 1);
    if (look) {
      look = false;
      has_token = p->g->lex_modes[state].lex_state != NO_LOOKAHEAD;
      if (has_token) {
        token = next_token(p, &p->heads[version], state);
        if (token.tree == NULL) {
          p->heads[version].status = PAUSED;
          return;
        }
      }
      list = actions_for(p, state, has_token ? tree_symbol(token) : SYMBOL_END);
    }
    int reduced = NO_VERSION;
    unsigned count = list->header.count;
    for (unsigned i = 1; i <= count && !p->gave_up; i++) {
      const action *a = list + i;
      switch (a->type) {
      case SHIFT:
        if (a->shift.repetition) {
          break;
        }
        shift(p, version, token, a->shift.extra ? state : a->shift.state, a->shift.extra);
        return;
      case REDUCE: {
        bool merged;
        if (only_reduces(list) && reduce_straight(p, version, a, !has_token, &merged)) {
          reduced = merged ? NO_VERSION : version;
          break;
        }
        int v = reduce_all(p, version, a, !has_token);
        if (v != NO_VERSION) {
          reduced = v;
        }
        break;
      }
      case ACCEPT:
        accept(p, version, token);
        return;
      default:
        p->gave_up = true;
      }
    }
    if (p->gave_up) {
      return;
    }
    if (reduced != NO_VERSION) {
      move_version(p, reduced, version);
      state = p->heads[version].node->state;
      look = !has_token;
      if (has_token) {
        list = actions_for(p, state, tree_symbol(token));
      }
      continue;
    }
    if (!has_token) { // what was reduced is part of another version now
      p->heads[version].status = HALTED;
      return;
    }
    uint16_t word = p->g->keyword_capture;
    if (tree_keyword(token) && tree_symbol(token) != word && actions_for(p, state, word)->header.count > 0) {
      list = actions_for(p, state, word);
      token = changed_leaf(p, token, word, tree_extra(token));
      continue;
    }
    p->heads[version].status = PAUSED;
    return;
  }
}

static void parse(parser *p) {
  uint32_t reached = 0;
  do {
    for (int v = 0; v < p->head_count; v++) {
      while (p->heads[v].status == ACTIVE) {
        advance(p, v);
        if (p->gave_up) {
          return;
        }
        uint32_t position = p->heads[v].node->position;
        if (position > reached || (v > 0 && position == reached)) {
          reached = position;
          break;
        }
      }
    }
  } while (condense(p));
}

const subtree *quarry_glr(quarry_arena *arena, const grammar *g, const char *text, uint32_t length) {
  if (sizeof(void *) < sizeof(leaf)) {
    return NULL; // leaves and pointers are compared as if they were one
  }
  parser *p = quarry_arena_take(arena, sizeof(parser));
  memset(p, 0, offsetof(parser, lexer));
  p->g = g;
  memset(p->known, 0, sizeof(p->known));
  p->memory.arena = arena;
  p->raised = quarry_arena_raised(arena);
  p->nodes.memory = &p->memory;
  p->budget = (int64_t)STEPS_PER_BYTE * length + STEPS_PER_BYTE * 16;
  p->memory.left = (int64_t)MEMORY_PER_BYTE * length + (1 << 20);
  p->pair_room = 64;
  p->pairs = pool_take(&p->memory, p->pair_room * sizeof(pair));
  lexer_init(&p->lexer, g, text, length);
  p->heads[0] = (head){stack_bottom(&p->nodes, 1), {NULL, 0}, ACTIVE};
  p->head_count = 1;
  p->cache.filled = p->gave_up = false;
  p->finished.tree = NULL;
  parse(p);
  lexer_close(&p->lexer, g);
  return p->gave_up || p->finished.tree == NULL ? NULL : &p->finished;
}
