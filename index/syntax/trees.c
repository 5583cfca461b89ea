#include <string.h>

#include "parser.h"

subtree leaf_of(parser *p, const found *token, uint32_t position, uint16_t state) {
  uint32_t padding = token->start - position, size = token->end - token->start;
  bool visible = p->g->symbols[token->symbol].visible;
  bool extra = token->symbol == SYMBOL_END;
  if (!token->external && token->symbol <= UINT8_MAX && padding <= UINT8_MAX && size <= UINT8_MAX) {
    return (subtree){.leaf = {
      .is_leaf = true, .visible = visible, .extra = extra, .is_keyword = token->keyword,
      .symbol = (uint8_t)token->symbol, .parse_state = state, .padding_bytes = (uint8_t)padding, .size_bytes = (uint8_t)size,
    }};
  }
  tree *t = pool_take(&p->memory, sizeof(tree));
  *t = (tree){
    .padding = padding, .size = size, .symbol = token->symbol, .production = state,
    .visible = visible, .extra = extra, .keyword = token->keyword, .external = token->external,
  };
  if (token->external) {
    char *data = pool_take(&p->memory, token->state.length);
    memcpy(data, token->state.data, token->state.length);
    t->scanner = (scanner_state){data, token->state.length};
  }
  return (subtree){.tree = t};
}

subtree changed_leaf(parser *p, subtree t, uint16_t symbol, bool extra) {
  bool visible = p->g->symbols[symbol].visible;
  if (t.leaf.is_leaf) {
    t.leaf.symbol = (uint8_t)symbol;
    t.leaf.visible = visible;
    t.leaf.extra = extra;
    return t;
  }
  tree *copy = pool_take(&p->memory, sizeof(tree));
  *copy = *t.tree;
  copy->symbol = symbol;
  copy->visible = visible;
  copy->extra = extra;
  return (subtree){.tree = copy};
}

tree *new_node(parser *p, uint16_t symbol, uint16_t production, uint32_t child_count) {
  subtree *children = pool_take(&p->memory, child_count * sizeof(subtree) + sizeof(tree));
  tree *t = (tree *)(children + child_count);
  *t = (tree){.symbol = symbol, .production = production, .child_count = child_count, .visible = p->g->symbols[symbol].visible};
  return t;
}

void summarise(const parser *p, tree *t) {
  const subtree *children = tree_children((subtree){.tree = t});
  const uint16_t *aliases = t->production != 0 ? p->g->alias_sequences + t->production * p->g->max_alias_sequence : NULL;
  uint32_t place = 0, bytes = 0;
  for (uint32_t i = 0; i < t->child_count; i++) {
    subtree child = children[i];
    bytes += tree_bytes(child);
    bool shown = tree_visible(child);
    if (!tree_extra(child)) {
      shown = shown || (aliases != NULL && aliases[place] != 0);
      place++;
    }
    uint32_t below = 0;
    if (tree_child_count(child) > 0) {
      t->precedence += child.tree->precedence;
      below = child.tree->visible_descendant_count;
      t->visible_child_count += shown ? 0 : child.tree->visible_child_count;
    }
    t->visible_child_count += shown;
    t->visible_descendant_count += shown + below;
  }
  if (t->child_count > 0) {
    t->padding = tree_padding(children[0]);
    t->size = bytes - t->padding;
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
    spend(p, 1);
    a = p->pairs[--n].a;
    b = p->pairs[n].b;
    if (a.tree == b.tree) {
      continue;
    }
    if (tree_symbol(a) != tree_symbol(b)) {
      return tree_symbol(a) < tree_symbol(b) ? -1 : 1;
    }
    uint32_t count = tree_child_count(a);
    if (count != tree_child_count(b)) {
      return count < tree_child_count(b) ? -1 : 1;
    }
    for (uint32_t i = count; i > 0; i--) {
      push_pair(p, n++, tree_children(a)[i - 1], tree_children(b)[i - 1]);
    }
  }
  return 0;
}

bool prefers_second(parser *p, subtree a, subtree b) {
  if (tree_precedence(a) != tree_precedence(b)) {
    return tree_precedence(b) > tree_precedence(a);
  }
  return compare(p, a, b) > 0;
}
