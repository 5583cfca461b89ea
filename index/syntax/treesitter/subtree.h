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

// heap_subtree is any other subtree of tree-sitter's; its children stand before it.
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
      char data[24];
      uint32_t length;
    } scanner_state;
  };
} heap_subtree;

// subtree is a small leaf, or points behind the children of any other subtree, where
// its own memory begins.
typedef union {
  leaf leaf;
  const heap_subtree *heap;
} subtree;

#endif
