// The part of tree-sitter's public C interface (api.h, ABI 14) that flatten.c
// calls. It is declared here because cgo cannot reach a header inside another
// module; the functions themselves come from the binding that is linked in
// anyway. (When cmd/go finds that this package cannot be linked alone it leaves
// the linking of the whole program to the C linker: go.dev/issue/52863.) TestFlattenEqualsBinding holds the declarations against the binding.
#ifndef QUARRY_FLATTEN_H
#define QUARRY_FLATTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"

typedef struct TSTree TSTree;
typedef struct TSParser TSParser;
typedef struct TSLanguage TSLanguage;

typedef struct {
  uint32_t row, column;
} TSPoint;

typedef enum { TSInputEncodingUTF8, TSInputEncodingUTF16 } TSInputEncoding;

typedef struct {
  void *payload;
  const char *(*read)(void *payload, uint32_t at, TSPoint point, uint32_t *length);
  TSInputEncoding encoding;
} TSInput;

typedef struct {
  uint32_t start_byte, old_end_byte, new_end_byte;
  TSPoint start_point, old_end_point, new_end_point;
} TSInputEdit;

typedef struct {
  uint32_t context[4];
  const void *id;
  const TSTree *tree;
} TSNode;

typedef struct {
  const void *tree;
  const void *id;
  uint32_t context[3];
} TSTreeCursor;

extern void ts_set_allocator(void *(*)(size_t), void *(*)(size_t, size_t), void *(*)(void *, size_t), void (*)(void *));
extern TSParser *ts_parser_new(void);
extern void ts_parser_delete(TSParser *self);
extern bool ts_parser_set_language(TSParser *self, const TSLanguage *language);
extern TSTree *ts_parser_parse(TSParser *self, const TSTree *old, TSInput input);
extern void *(*ts_current_malloc)(size_t);
extern void *(*ts_current_realloc)(void *, size_t);
extern void (*ts_current_free)(void *);
extern TSTree *ts_tree_copy(const TSTree *self);
extern void ts_tree_delete(TSTree *self);
extern void ts_tree_edit(TSTree *self, const TSInputEdit *edit);
extern const TSLanguage *ts_tree_language(const TSTree *self);
extern TSNode ts_tree_root_node(const TSTree *self);
extern TSTreeCursor ts_tree_cursor_new(TSNode node);
extern void ts_tree_cursor_delete(TSTreeCursor *self);
extern TSNode ts_tree_cursor_current_node(const TSTreeCursor *self);
extern bool ts_tree_cursor_goto_parent(TSTreeCursor *self);
extern bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *self);
extern bool ts_tree_cursor_goto_first_child(TSTreeCursor *self);
extern uint16_t ts_node_symbol(TSNode self);
extern bool ts_node_is_missing(TSNode self);
extern bool ts_node_is_extra(TSNode self);
extern bool ts_node_has_error(TSNode self);

// quarry_node is one node of a tree in preorder; flat.go's node mirrors it.
typedef struct {
  uint32_t start, end; // bytes
  uint32_t next;       // index of the first node after the subtree
  uint32_t parent;     // index of the parent; the root is its own
  uint32_t previous;   // index of the sibling before it, 0 for none
  uint16_t symbol;     // the grammar's symbol, 65535 for an error
  uint16_t field;      // the field it fills in its parent, 0 for none
  uint8_t missing;     // made up by error recovery, of no text
  uint8_t extra;       // allowed anywhere: comments
} quarry_node;

TSTree *quarry_parse_tree(quarry_arena *arena, const TSLanguage *language, const TSTree *old, const TSInputEdit *edit, const char *text, uint32_t length, uint64_t limit, int64_t room, uint64_t *took);
void quarry_delete_tree(quarry_arena *arena, TSTree *tree);
int64_t quarry_parse_needs(int64_t length);

quarry_node *quarry_parse(quarry_arena *arena, const TSLanguage *language, const char *text, uint32_t length, uint64_t limit, int64_t room, uint32_t *count);
uint32_t quarry_flatten(TSNode root, quarry_node *out, uint32_t cap);
uint32_t quarry_count_errors(TSNode root);

// quarry_give_back returns freed memory to the system, where C's library can.
void quarry_give_back(void);

#endif
