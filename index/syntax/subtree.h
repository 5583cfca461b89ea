// The memory of tree-sitter's trees, as the pinned binding lays it out (its
// subtree.h, tree_cursor.c and parser.h). flatten.c reads trees from it: a public
// tree cursor takes an eighth of the whole time of a file, this a third of that. A
// binding that lays trees out otherwise fails TestFlattenEqualsBinding.
#ifndef QUARRY_SUBTREE_H
#define QUARRY_SUBTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "grammar.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a big-endian machine has leaves laid out in another order");

typedef struct {
  uint32_t bytes, row, column;
} length;

// leaf is a small leaf, stored in the place of a pointer to it.
typedef struct {
  bool is_leaf : 1; // where a pointer's lowest bit is
  bool visible : 1;
  bool named : 1;
  bool extra : 1;
  bool has_changes : 1;
  bool is_missing : 1;
  bool is_keyword : 1;
  uint8_t symbol;
  uint16_t parse_state;
  uint8_t padding_columns;
  uint8_t padding_rows : 4;
  uint8_t lookahead_bytes : 4;
  uint8_t padding_bytes;
  uint8_t size_bytes;
} leaf;

// heap_subtree is any other subtree; its children stand before it.
typedef struct {
  volatile uint32_t ref_count;
  length padding, size;
  uint32_t lookahead_bytes;
  uint32_t error_cost;
  uint32_t child_count;
  uint16_t symbol;
  uint16_t parse_state;
  bool visible : 1;
  bool named : 1;
  bool extra : 1;
  bool fragile_left : 1;
  bool fragile_right : 1;
  bool has_changes : 1;
  bool has_external_tokens : 1;
  bool has_external_scanner_state_change : 1;
  bool depends_on_column : 1;
  bool is_missing : 1;
  bool is_keyword : 1;
  union {
    struct { // if there are children
      uint32_t visible_child_count;
      uint32_t named_child_count;
      uint32_t visible_descendant_count;
      int32_t dynamic_precedence;
      uint16_t repeat_depth;
      uint16_t production_id;
    };
    struct {
      char *long_data;
      char rest[16];
      uint32_t length;
    } scanner_state;
  };
} heap_subtree;

typedef union {
  leaf leaf;
  const heap_subtree *heap;
} subtree;

// scanner_state is what a scanner kept behind a token.
typedef struct {
  const char *data;
  uint32_t length;
} scanner_state;

static inline bool scanner_state_equal(scanner_state a, scanner_state b) {
  return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static inline uint16_t subtree_symbol(subtree t) { return t.leaf.is_leaf ? t.leaf.symbol : t.heap->symbol; }
static inline bool subtree_visible(subtree t) { return t.leaf.is_leaf ? t.leaf.visible : t.heap->visible; }
static inline bool subtree_extra(subtree t) { return t.leaf.is_leaf ? t.leaf.extra : t.heap->extra; }
static inline bool subtree_keyword(subtree t) { return t.leaf.is_leaf ? t.leaf.is_keyword : t.heap->is_keyword; }
static inline uint16_t subtree_state(subtree t) { return t.leaf.is_leaf ? t.leaf.parse_state : t.heap->parse_state; }
static inline uint32_t subtree_padding(subtree t) { return t.leaf.is_leaf ? t.leaf.padding_bytes : t.heap->padding.bytes; }
static inline uint32_t subtree_size(subtree t) { return t.leaf.is_leaf ? t.leaf.size_bytes : t.heap->size.bytes; }
static inline uint32_t subtree_bytes(subtree t) { return subtree_padding(t) + subtree_size(t); }
static inline uint32_t subtree_child_count(subtree t) { return t.leaf.is_leaf ? 0 : t.heap->child_count; }
static inline const subtree *subtree_children(subtree t) { return (const subtree *)t.heap - t.heap->child_count; }
static inline int32_t subtree_precedence(subtree t) { return subtree_child_count(t) > 0 ? t.heap->dynamic_precedence : 0; }

static inline scanner_state subtree_scanner_state(subtree t) {
  if (t.leaf.is_leaf || t.heap->child_count > 0 || !t.heap->has_external_tokens) {
    return (scanner_state){NULL, 0};
  }
  return (scanner_state){t.heap->scanner_state.long_data, t.heap->scanner_state.length};
}

#endif
