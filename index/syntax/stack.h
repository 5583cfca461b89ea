// The stacks of a generalised LR parser. Where a grammar allows two readings of
// what came so far, there are two stacks, which share their lower part; when both
// come to the same state at the same place, they become one whose top has two
// links down.
#ifndef QUARRY_STACK_H
#define QUARRY_STACK_H

#include "pool.h"
#include "tree.h"

enum { MAX_LINKS = 8 };

typedef struct stack_node stack_node;

typedef struct {
  stack_node *node;
  subtree tree; // what was pushed on it
} stack_link;

struct stack_node {
  uint16_t state;
  uint16_t link_count; // 0: the bottom of all stacks
  uint32_t references;
  uint32_t position;  // in the text, bytes
  int32_t precedence; // of all trees below, the greatest of the ways down
  stack_link first;
  stack_link *others; // MAX_LINKS - 1 of them, NULL if there never was a second
};

// stack_nodes are the nodes that can be used again.
typedef struct {
  pool *memory;
  stack_node *free;
  bool tangled; // a merge was left unfinished: the ways that it joins are too many
} stack_nodes;

static inline const stack_link *stack_link_at(const stack_node *n, unsigned i) {
  return i == 0 ? &n->first : &n->others[i - 1];
}

// stack_bottom makes the node that every way down ends in.
stack_node *stack_bottom(stack_nodes *nodes, uint16_t state);

// stack_push puts a tree and a state on a stack. The caller's reference to below
// goes to the node that is returned.
stack_node *stack_push(stack_nodes *nodes, stack_node *below, subtree tree, uint16_t state);

// stack_merge gives a node the ways down of another one of the same state and
// position. The nodes below that are of one state and position become one as well,
// for as long as the trees above them are the same.
void stack_merge(stack_nodes *nodes, stack_node *into, const stack_node *from);

void stack_release(stack_nodes *nodes, stack_node *n);

#endif
