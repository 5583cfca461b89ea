#include "flatten.h"
#include "glr.h"

// frame is a subtree whose children are being read. Those of a hidden subtree
// belong to the node around it.
typedef struct {
  const subtree *child, *end;
  uint32_t at;    // byte after the child before
  uint32_t place; // of the child, extras not counted: what fields and aliases go by
  uint32_t node;
  uint16_t field; // what the children of a hidden subtree fill
  bool hidden;
  const uint16_t *aliases; // by place; NULL for none
  const field_entry *fields, *fields_end;
} frame;

static frame open_frame(const grammar *g, const heap_subtree *heap, uint32_t start, uint32_t node, bool hidden, uint16_t field) {
  const subtree *children = (const subtree *)heap - heap->child_count;
  frame f = {.child = children, .end = (const subtree *)heap, .node = node, .hidden = hidden, .field = field};
  // The first child's padding is the parent's, which start is past.
  f.at = start - (children[0].leaf.is_leaf ? children[0].leaf.padding_bytes : children[0].heap->padding.bytes);
  if (heap->production_id != 0) {
    f.aliases = g->alias_sequences + heap->production_id * g->max_alias_sequence;
  }
  if (g->field_count > 0) {
    field_slice slice = g->field_slices[heap->production_id];
    f.fields = g->field_entries + slice.index;
    f.fields_end = f.fields + slice.length;
  }
  return f;
}

static uint16_t field_of(const frame *f, uint32_t place) {
  for (const field_entry *e = f->fields; e < f->fields_end; e++) {
    if (!e->inherited && e->child == place) {
      return e->field;
    }
  }
  return f->hidden ? f->field : 0;
}

// flatten writes the subtree of top to out in preorder.
static void flatten(const grammar *g, const subtree *top, quarry_node *out) {
  const heap_subtree *root = top->heap; // never a leaf
  out[0] = (quarry_node){
    .start = root->padding.bytes, .end = root->padding.bytes + root->size.bytes,
    .symbol = root->symbol == SYMBOL_ERROR ? root->symbol : g->public_symbols[root->symbol],
    .missing = root->is_missing, .extra = root->extra,
  };
  uint32_t n = 1;
  size_t depth = 0, room = 64;
  frame *frames = ts_current_malloc(room * sizeof(frame)); // source nests without bound
  if (root->child_count > 0) {
    frames[depth++] = open_frame(g, root, out[0].start, 0, false, 0);
  }
  while (depth > 0) {
    frame *f = &frames[depth - 1];
    if (f->child == f->end) {
      if (!f->hidden) {
        out[f->node].next = n;
      }
      depth--;
      continue;
    }
    subtree child = *f->child++;
    bool small = child.leaf.is_leaf;
    uint32_t start = f->at + (small ? child.leaf.padding_bytes : child.heap->padding.bytes);
    f->at = start + (small ? child.leaf.size_bytes : child.heap->size.bytes);
    bool visible = small ? child.leaf.visible : child.heap->visible;
    bool extra = small ? child.leaf.extra : child.heap->extra;
    uint16_t symbol = small ? child.leaf.symbol : child.heap->symbol, field = 0;
    if (!extra) {
      uint32_t place = f->place++;
      uint16_t alias = f->aliases ? f->aliases[place] : 0;
      if (alias != 0) {
        symbol = alias;
        visible = true;
      }
      field = field_of(f, place);
    }
    bool leads = !small && child.heap->child_count > 0;
    uint32_t node = f->node;
    if (visible) {
      node = n++;
      out[node] = (quarry_node){
        .start = start, .end = f->at, .next = n, .parent = f->node, .previous = out[f->node].next, .field = field,
        .symbol = symbol == SYMBOL_ERROR ? symbol : g->public_symbols[symbol],
        .missing = small ? child.leaf.is_missing : child.heap->is_missing, .extra = extra,
      };
      out[f->node].next = node; // the last child so far, until the frame is done
    } else if (leads && child.heap->visible_child_count == 0) {
      continue;
    }
    if (leads) {
      if (depth == room) {
        room *= 2;
        frames = ts_current_realloc(frames, room * sizeof(frame));
      }
      if (visible) {
        out[node].next = 0;
      }
      frames[depth++] = open_frame(g, child.heap, start, node, !visible, field);
    }
  }
  ts_current_free(frames);
  out[0].next = n; // if it has no children
}

static uint32_t count_nodes(const subtree *root) {
  return root->heap->child_count > 0 ? root->heap->visible_descendant_count + 1 : 1;
}

// quarry_flatten writes the tree of root to out in preorder and returns how many
// nodes there are. One call across the cgo boundary replaces several for each node:
// that boundary, not the walk, is what reading a tree from Go costs. A result above
// cap means that nothing was written.
uint32_t quarry_flatten(TSNode root, quarry_node *out, uint32_t cap) {
  uint32_t total = count_nodes(root.id);
  if (total <= cap) {
    flatten((const grammar *)ts_tree_language(root.tree), root.id, out);
  }
  return total;
}

static quarry_node *nodes_of(quarry_arena *arena, const grammar *g, const subtree *root, uint32_t *count) {
  if (root == NULL) {
    return NULL;
  }
  *count = count_nodes(root);
  quarry_node *nodes = quarry_arena_take(arena, *count * sizeof(quarry_node));
  flatten(g, root, nodes);
  return nodes;
}

// quarry_parse_clean parses a text without syntax errors and returns the nodes of
// its tree in preorder; they are valid until the arena is reset. It returns NULL for
// any other text.
quarry_node *quarry_parse_clean(quarry_arena *arena, const TSLanguage *language, const char *text, uint32_t length, uint32_t *count) {
  quarry_arena_use(arena);
  const grammar *g = (const grammar *)language;
  quarry_node *nodes = nodes_of(arena, g, quarry_glr(arena, g, text, length), count);
  quarry_arena_use(NULL);
  return nodes;
}

// quarry_parse is quarry_parse_clean for any text, by tree-sitter. It returns NULL
// if that gave up after limit microseconds. A parser of its own for each text is
// cheap, and leaves nothing in the arena that would have to be kept.
quarry_node *quarry_parse(quarry_arena *arena, const TSLanguage *language, const char *text, uint32_t length, uint64_t limit, uint32_t *count) {
  quarry_arena_use(arena);
  TSParser *parser = ts_parser_new();
  ts_parser_set_language(parser, language);
  ts_parser_set_timeout_micros(parser, limit);
  TSTree *tree = ts_parser_parse_string(parser, NULL, text, length);
  ts_parser_delete(parser); // some scanners have memory that is not the arena's
  const subtree *root = tree != NULL ? ts_tree_root_node(tree).id : NULL;
  quarry_node *nodes = nodes_of(arena, (const grammar *)language, root, count);
  quarry_arena_use(NULL);
  return nodes;
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
