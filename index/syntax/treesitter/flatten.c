#include "flatten.h"

#include "subtree.h"

// shape is what is read of a subtree.
typedef struct {
  uint32_t padding, size, child_count, visible_child_count;
  uint16_t symbol, production;
  bool visible, extra, missing;
} shape;

static inline shape shape_of(subtree t) {
  if (t.leaf.is_leaf) {
    return (shape){
      .padding = t.leaf.padding_bytes, .size = t.leaf.size_bytes, .symbol = t.leaf.symbol,
      .visible = t.leaf.visible, .extra = t.leaf.extra, .missing = t.leaf.is_missing,
    };
  }
  return (shape){
    .padding = t.heap->padding.bytes, .size = t.heap->size.bytes, .child_count = t.heap->child_count,
    .visible_child_count = t.heap->visible_child_count, .symbol = t.heap->symbol, .production = t.heap->production_id,
    .visible = t.heap->visible, .extra = t.heap->extra, .missing = t.heap->is_missing,
  };
}

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

// open_frame begins with the children of a tree, which stand before it; at is where
// the tree's padding does.
static inline frame open_frame(const grammar *g, subtree t, shape s, uint32_t at, uint32_t node, bool hidden, uint16_t field) {
  const subtree *end = (const subtree *)t.heap;
  frame f = {.child = end - s.child_count, .end = end, .at = at, .node = node, .hidden = hidden, .field = field};
  if (s.production != 0) {
    f.aliases = g->alias_sequences + s.production * g->max_alias_sequence;
  }
  if (g->field_count > 0) {
    field_slice slice = g->field_slices[s.production];
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

// flatten writes a tree to out in preorder.
static void flatten(const grammar *g, subtree root, quarry_node *out) {
  shape s = shape_of(root);
  out[0] = (quarry_node){
    .start = s.padding, .end = s.padding + s.size, .symbol = s.symbol == SYMBOL_ERROR ? s.symbol : g->public_symbols[s.symbol],
    .missing = s.missing, .extra = s.extra,
  };
  uint32_t n = 1;
  size_t depth = 0, room = 64;
  frame *frames = ts_current_malloc(room * sizeof(frame)); // source nests without bound
  if (s.child_count > 0) {
    frames[depth++] = open_frame(g, root, s, 0, 0, false, 0);
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
    s = shape_of(child);
    uint32_t before = f->at, start = before + s.padding;
    f->at = start + s.size;
    uint16_t field = 0;
    if (!s.extra) {
      uint32_t place = f->place++;
      uint16_t alias = f->aliases ? f->aliases[place] : 0;
      if (alias != 0) {
        s.symbol = alias;
        s.visible = true;
      }
      field = field_of(f, place);
    }
    uint32_t node = f->node;
    if (s.visible) {
      node = n++;
      out[node] = (quarry_node){
        .start = start, .end = f->at, .next = n, .parent = f->node, .previous = out[f->node].next, .field = field,
        .symbol = s.symbol == SYMBOL_ERROR ? s.symbol : g->public_symbols[s.symbol], .missing = s.missing, .extra = s.extra,
      };
      out[f->node].next = node; // the last child so far, until the frame is done
    } else if (s.visible_child_count == 0) {
      continue;
    }
    if (s.child_count > 0) {
      if (depth == room) {
        room *= 2;
        frames = ts_current_realloc(frames, room * sizeof(frame));
      }
      if (s.visible) {
        out[node].next = 0;
      }
      frames[depth++] = open_frame(g, child, s, before, node, !s.visible, field);
    }
  }
  ts_current_free(frames);
  out[0].next = n; // if it has no children
}

// count_nodes counts those of a tree, which is never a leaf.
static uint32_t count_nodes(subtree root) { return root.heap->child_count > 0 ? root.heap->visible_descendant_count + 1 : 1; }

// quarry_flatten writes the tree of root to out in preorder and returns how many
// nodes there are. One call across the cgo boundary replaces several for each node:
// that boundary, not the walk, is what reading a tree from Go costs. A result above
// cap means that nothing was written.
uint32_t quarry_flatten(TSNode root, quarry_node *out, uint32_t cap) {
  const subtree *top = root.id;
  uint32_t total = count_nodes(*top);
  if (total <= cap) {
    flatten((const grammar *)ts_tree_language(root.tree), *top, out);
  }
  return total;
}

// quarry_parse parses any text, see quarry_parse_tree, and returns the nodes of its tree
// in preorder; they are valid until the arena is reset. It returns NULL if there is no
// tree.
quarry_node *quarry_parse(quarry_arena *arena, const TSLanguage *language, const char *text, uint32_t length, uint64_t limit, int64_t room, uint32_t *count) {
  const TSTree *tree = quarry_parse_tree(arena, language, NULL, NULL, text, length, limit, room, NULL);
  if (tree == NULL) {
    return NULL;
  }
  quarry_arena_use(arena);
  const subtree *root = ts_tree_root_node(tree).id;
  *count = count_nodes(*root);
  quarry_node *nodes = quarry_arena_take(arena, *count * sizeof(quarry_node));
  flatten((const grammar *)language, *root, nodes);
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
