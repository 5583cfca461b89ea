// Access to the trees of glr.c.
#ifndef QUARRY_TREE_H
#define QUARRY_TREE_H

#include <string.h>

#include "subtree.h"

static inline bool scanner_state_equal(scanner_state a, scanner_state b) {
  return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static inline uint16_t tree_symbol(subtree t) { return t.leaf.is_leaf ? t.leaf.symbol : t.tree->symbol; }
static inline bool tree_visible(subtree t) { return t.leaf.is_leaf ? t.leaf.visible : t.tree->visible; }
static inline bool tree_extra(subtree t) { return t.leaf.is_leaf ? t.leaf.extra : t.tree->extra; }
static inline bool tree_keyword(subtree t) { return t.leaf.is_leaf ? t.leaf.is_keyword : t.tree->keyword; }
static inline bool tree_external(subtree t) { return !t.leaf.is_leaf && t.tree->external; }
static inline uint16_t tree_state(subtree t) { return t.leaf.is_leaf ? t.leaf.parse_state : t.tree->production; }
static inline uint32_t tree_padding(subtree t) { return t.leaf.is_leaf ? t.leaf.padding_bytes : t.tree->padding; }
static inline uint32_t tree_size(subtree t) { return t.leaf.is_leaf ? t.leaf.size_bytes : t.tree->size; }
static inline uint32_t tree_bytes(subtree t) { return tree_padding(t) + tree_size(t); }
static inline uint32_t tree_child_count(subtree t) { return t.leaf.is_leaf ? 0 : t.tree->child_count; }
static inline const subtree *tree_children(subtree t) { return (const subtree *)t.tree - t.tree->child_count; }
static inline int32_t tree_precedence(subtree t) { return tree_child_count(t) > 0 ? t.tree->precedence : 0; }

static inline scanner_state tree_scanner_state(subtree t) {
  return tree_external(t) ? t.tree->scanner : (scanner_state){NULL, 0};
}

#endif
