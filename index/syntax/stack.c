#include "stack.h"

#include <string.h>

enum { MAX_MERGES = 1000 }; // of nodes below one that is merged: some threads' stacks are small

static stack_node *take_node(stack_nodes *nodes) {
  stack_node *n = nodes->free;
  if (n != NULL) {
    nodes->free = n->first.node;
  } else {
    n = pool_take(nodes->memory, sizeof(stack_node));
    n->others = NULL;
  }
  return n;
}

stack_node *stack_bottom(stack_nodes *nodes, uint16_t state) {
  stack_node *n = take_node(nodes);
  *n = (stack_node){.state = state, .references = 2}; // one is never released
  return n;
}

stack_node *stack_push(stack_nodes *nodes, stack_node *below, subtree tree, uint16_t state) {
  stack_node *n = take_node(nodes);
  n->state = state;
  n->link_count = 1;
  n->references = 1;
  n->position = below->position + tree_bytes(tree);
  n->precedence = below->precedence + tree_precedence(tree);
  n->first = (stack_link){below, tree};
  return n;
}

// A stack is as high as a text nests deep: this must not recurse. A node that goes
// waits for its turn in the place of the link that is being released.
void stack_release(stack_nodes *nodes, stack_node *n) {
  stack_node *waiting = NULL;
  for (;;) {
    stack_node *next;
    if (--n->references > 0) {
      if (waiting == NULL) {
        return;
      }
      next = waiting;
      waiting = next->others[next->link_count - 1].node;
      next->references = 1;
    } else if (n->link_count > 1) {
      stack_link *last = &n->others[--n->link_count - 1];
      next = last->node;
      last->node = waiting;
      waiting = n;
    } else {
      next = n->first.node;
      n->first.node = nodes->free;
      nodes->free = n;
    }
    n = next;
  }
}

static bool same_scanner_state(subtree a, subtree b) {
  return scanner_state_equal(tree_scanner_state(a), tree_scanner_state(b));
}

static bool equivalent(subtree a, subtree b) {
  return a.tree == b.tree ||
         (tree_symbol(a) == tree_symbol(b) && tree_padding(a) == tree_padding(b) && tree_size(a) == tree_size(b) &&
          tree_child_count(a) == tree_child_count(b) && tree_extra(a) == tree_extra(b) && same_scanner_state(a, b));
}

static void merge(stack_nodes *nodes, stack_node *into, const stack_node *from, unsigned *merges);

static void add_link(stack_nodes *nodes, stack_node *n, stack_link link, unsigned *merges) {
  if (link.node == n) {
    return;
  }
  int32_t precedence = link.node->precedence + tree_precedence(link.tree);
  for (unsigned i = 0; i < n->link_count; i++) {
    stack_link *known = (stack_link *)stack_link_at(n, i);
    if (!equivalent(known->tree, link.tree)) {
      continue;
    }
    // Two trees between the same nodes: the choice can be made now, for it
    // depends on nothing above.
    if (known->node == link.node) {
      if (tree_precedence(link.tree) > tree_precedence(known->tree)) {
        known->tree = link.tree;
        n->precedence = precedence;
      }
      return;
    }
    if (known->node->state == link.node->state && known->node->position == link.node->position) {
      merge(nodes, known->node, link.node, merges);
      if (precedence > n->precedence) {
        n->precedence = precedence;
      }
      return;
    }
  }
  if (n->link_count == MAX_LINKS) {
    return;
  }
  if (n->others == NULL) {
    n->others = pool_take(nodes->memory, (MAX_LINKS - 1) * sizeof(stack_link));
  }
  n->others[n->link_count++ - 1] = link;
  link.node->references++;
  if (precedence > n->precedence) {
    n->precedence = precedence;
  }
}

// merge counts the merges it leads to. Each can be inside of the one before, and
// where ways part and meet again below, there are as many as there are ways.
static void merge(stack_nodes *nodes, stack_node *into, const stack_node *from, unsigned *merges) {
  nodes->tangled = nodes->tangled || ++*merges > MAX_MERGES;
  for (unsigned i = 0; i < from->link_count && !nodes->tangled; i++) {
    add_link(nodes, into, *stack_link_at(from, i), merges);
  }
}

void stack_merge(stack_nodes *nodes, stack_node *into, const stack_node *from) {
  unsigned merges = 0;
  merge(nodes, into, from, &merges);
}
