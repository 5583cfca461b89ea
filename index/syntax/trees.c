#include <string.h>

#include "parser.h"

subtree leaf_of(parser *p, const found *token, uint32_t position, uint16_t state) {
  uint32_t padding = token->start - position, size = token->end - token->start;
  symbol_metadata shown = p->g->symbols[token->symbol];
  bool extra = token->symbol == SYMBOL_END;
  if (!token->external && token->symbol <= UINT8_MAX && padding <= UINT8_MAX && size <= UINT8_MAX) {
    return (subtree){.leaf = {
      .is_leaf = true, .visible = shown.visible, .named = shown.named, .extra = extra, .is_keyword = token->keyword,
      .symbol = (uint8_t)token->symbol, .parse_state = state, .padding_bytes = (uint8_t)padding, .size_bytes = (uint8_t)size,
    }};
  }
  heap_subtree *t = pool_take(&p->memory, sizeof(heap_subtree));
  *t = (heap_subtree){
    .padding.bytes = padding, .size.bytes = size, .symbol = token->symbol, .parse_state = state,
    .visible = shown.visible, .named = shown.named, .extra = extra, .is_keyword = token->keyword,
    .has_external_tokens = token->external,
  };
  if (token->external) {
    t->scanner_state.length = token->state.length;
    t->scanner_state.long_data = pool_take(&p->memory, token->state.length);
    memcpy(t->scanner_state.long_data, token->state.data, token->state.length);
  }
  return (subtree){.heap = t};
}

subtree changed_leaf(parser *p, subtree t, uint16_t symbol, bool extra) {
  symbol_metadata shown = p->g->symbols[symbol];
  if (t.leaf.is_leaf) {
    t.leaf.symbol = (uint8_t)symbol;
    t.leaf.visible = shown.visible;
    t.leaf.named = shown.named;
    t.leaf.extra = extra;
    return t;
  }
  heap_subtree *copy = pool_take(&p->memory, sizeof(heap_subtree));
  *copy = *t.heap;
  copy->symbol = symbol;
  copy->visible = shown.visible;
  copy->named = shown.named;
  copy->extra = extra;
  return (subtree){.heap = copy};
}

heap_subtree *new_node(parser *p, uint16_t symbol, uint16_t production, uint32_t child_count) {
  subtree *children = pool_take(&p->memory, child_count * sizeof(subtree) + sizeof(heap_subtree));
  heap_subtree *t = (heap_subtree *)(children + child_count);
  symbol_metadata shown = p->g->symbols[symbol];
  *t = (heap_subtree){
    .symbol = symbol, .production_id = production, .child_count = child_count, .visible = shown.visible, .named = shown.named,
  };
  return t;
}

void summarise(const parser *p, heap_subtree *t) {
  const subtree *children = subtree_children((subtree){.heap = t});
  const uint16_t *aliases = t->production_id != 0 ? p->g->alias_sequences + t->production_id * p->g->max_alias_sequence : NULL;
  uint32_t place = 0, bytes = 0;
  for (uint32_t i = 0; i < t->child_count; i++) {
    subtree child = children[i];
    bytes += subtree_bytes(child);
    bool shown = subtree_visible(child);
    if (!subtree_extra(child)) {
      shown = shown || (aliases != NULL && aliases[place] != 0);
      place++;
    }
    uint32_t below = 0;
    if (subtree_child_count(child) > 0) {
      t->dynamic_precedence += child.heap->dynamic_precedence;
      below = child.heap->visible_descendant_count;
      t->visible_child_count += shown ? 0 : child.heap->visible_child_count;
    }
    t->visible_child_count += shown;
    t->visible_descendant_count += shown + below;
  }
  if (t->child_count > 0) {
    t->padding.bytes = subtree_padding(children[0]);
    t->size.bytes = bytes - t->padding.bytes;
  }
}

static void push_pair(parser *p, uint32_t n, subtree a, subtree b) {
  if (n == p->pair_room) {
    pair *larger = pool_take(&p->memory, 2 * n * sizeof(pair));
    p->pairs = memcpy(larger, p->pairs, n * sizeof(pair));
    p->pair_room = 2 * n;
  }
  p->pairs[n] = (pair){a, b};
}

// compare orders trees by their first difference in preorder: symbols, then numbers
// of children. Trees are as deep as a list is long: it must not recurse.
static int compare(parser *p, subtree a, subtree b) {
  uint32_t n = 0;
  push_pair(p, n++, a, b);
  while (n > 0 && !p->gave_up) {
    spend(p);
    a = p->pairs[--n].a;
    b = p->pairs[n].b;
    if (a.heap == b.heap) {
      continue;
    }
    if (subtree_symbol(a) != subtree_symbol(b)) {
      return subtree_symbol(a) < subtree_symbol(b) ? -1 : 1;
    }
    uint32_t count = subtree_child_count(a);
    if (count != subtree_child_count(b)) {
      return count < subtree_child_count(b) ? -1 : 1;
    }
    for (uint32_t i = count; i > 0; i--) {
      push_pair(p, n++, subtree_children(a)[i - 1], subtree_children(b)[i - 1]);
    }
  }
  return 0;
}

bool prefers_second(parser *p, subtree a, subtree b) {
  if (subtree_precedence(a) != subtree_precedence(b)) {
    return subtree_precedence(b) > subtree_precedence(a);
  }
  return compare(p, a, b) > 0;
}
