#include "flatten.h"

// quarry_parse parses a text and returns the nodes of its tree in preorder; they
// are valid until the arena is reset. It returns NULL if the parser gave up after
// limit microseconds. A parser of its own for each text is cheap, and leaves
// nothing in the arena that would have to be kept.
quarry_node *quarry_parse(quarry_arena *arena, const TSLanguage *language, const char *text, uint32_t length, uint64_t limit, uint32_t *count) {
  quarry_arena_use(arena);
  TSParser *parser = ts_parser_new();
  ts_parser_set_language(parser, language);
  ts_parser_set_timeout_micros(parser, limit);
  TSTree *tree = ts_parser_parse_string(parser, NULL, text, length);
  ts_parser_delete(parser); // some scanners have memory that is not the arena's
  quarry_node *nodes = NULL;
  if (tree != NULL) {
    TSNode root = ts_tree_root_node(tree);
    *count = ts_node_descendant_count(root);
    nodes = quarry_arena_take(arena, *count * sizeof(quarry_node));
    quarry_flatten(root, nodes, *count);
  }
  quarry_arena_use(NULL);
  return nodes;
}

// quarry_flatten writes the subtree of root to out in preorder and returns how
// many nodes there are. One call across the cgo boundary replaces several for
// each node: that boundary, not the walk, is what reading a tree from Go costs.
// At most cap nodes are written; a result above cap means out is incomplete.
uint32_t quarry_flatten(TSNode root, quarry_node *out, uint32_t cap) {
  uint32_t total = ts_node_descendant_count(root);
  if (total > cap) {
    return total;
  }
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  uint32_t n = 0, parent = 0, previous = 0;
  bool more = true;
  while (more && n < cap) {
    TSNode node = ts_tree_cursor_current_node(&cursor);
    uint32_t self = n++;
    out[self].start = ts_node_start_byte(node);
    out[self].end = ts_node_end_byte(node);
    out[self].parent = parent;
    out[self].previous = previous;
    out[self].symbol = ts_node_symbol(node);
    out[self].field = self == 0 ? 0 : ts_tree_cursor_current_field_id(&cursor);
    out[self].missing = ts_node_is_missing(node);
    out[self].extra = ts_node_is_extra(node);
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      parent = self;
      previous = 0;
      continue;
    }
    out[self].next = n;
    while (!(more = ts_tree_cursor_goto_next_sibling(&cursor))) {
      if (parent == self || !ts_tree_cursor_goto_parent(&cursor)) {
        break;
      }
      self = parent;
      parent = out[self].parent;
      out[self].next = n;
    }
    previous = self;
  }
  ts_tree_cursor_delete(&cursor);
  return n;
}

// quarry_count_errors counts the outermost error and missing nodes, entering
// only nodes that hold some.
uint32_t quarry_count_errors(TSNode root) {
  uint32_t count = 0, depth = 0;
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  for (;;) {
    TSNode node = ts_tree_cursor_current_node(&cursor);
    bool error = ts_node_symbol(node) == UINT16_MAX || ts_node_is_missing(node);
    count += error;
    if (!error && ts_node_has_error(node) && ts_tree_cursor_goto_first_child(&cursor)) {
      depth++;
      continue;
    }
    while (depth > 0 && !ts_tree_cursor_goto_next_sibling(&cursor)) {
      ts_tree_cursor_goto_parent(&cursor);
      depth--;
    }
    if (depth == 0) {
      break;
    }
  }
  ts_tree_cursor_delete(&cursor);
  return count;
}
