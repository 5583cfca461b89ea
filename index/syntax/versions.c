#include <string.h>

#include "parser.h"

void remove_version(parser *p, int v) {
  stack_release(&p->nodes, p->heads[v].node);
  p->head_count--;
  memmove(&p->heads[v], &p->heads[v + 1], (p->head_count - v) * sizeof(head));
}

void move_version(parser *p, int from, int to) {
  if (from == to) {
    return;
  }
  head moved = p->heads[from];
  moved.node->references++;
  remove_version(p, from);
  stack_release(&p->nodes, p->heads[to].node);
  p->heads[to] = moved;
}

bool can_merge(const head *a, const head *b) {
  return a->status == ACTIVE && b->status == ACTIVE && a->node->state == b->node->state && a->node->position == b->node->position &&
         scanner_state_equal(a->scanner, b->scanner);
}

bool merge_versions(parser *p, int into, int from) {
  if (!can_merge(&p->heads[into], &p->heads[from])) {
    return false;
  }
  stack_merge(&p->nodes, p->heads[into].node, p->heads[from].node);
  remove_version(p, from);
  return true;
}

// add_path files a finished way down. Those that end in the same node are of one
// new version.
static void add_path(parser *p, int version, stack_node *node, cell *trees) {
  if (p->path_count == MAX_PATHS || p->head_count == MAX_HEADS) {
    p->gave_up = true;
    return;
  }
  int i = p->path_count - 1;
  while (i >= 0 && p->heads[p->paths[i].version].node != node) {
    i--;
  }
  path added = {trees, p->head_count};
  if (i >= 0) {
    added.version = p->paths[i].version;
  } else {
    head h = {node, p->heads[version].scanner, ACTIVE};
    node->references++;
    p->heads[p->head_count++] = h;
    i = p->path_count - 1;
  }
  memmove(&p->paths[i + 2], &p->paths[i + 1], (p->path_count - i - 1) * sizeof(path));
  p->paths[i + 1] = added;
  p->path_count++;
}

void pop(parser *p, int version, uint32_t count) {
  int walks = 1;
  p->walks[0] = (walk){.node = p->heads[version].node};
  p->path_count = 0;
  while (walks > 0 && !p->gave_up) {
    for (int i = 0, n = walks; i < n; i++) {
      spend(p, 1);
      walk *w = &p->walks[i];
      stack_node *node = w->node;
      bool done = count == TO_BOTTOM ? node->link_count == 0 : w->count == count;
      if (done) {
        add_path(p, version, node, w->trees);
      }
      if (done || node->link_count == 0) {
        walks--;
        memmove(w, w + 1, (walks - i) * sizeof(walk));
        i--, n--;
        continue;
      }
      walk from = *w;
      for (unsigned j = 1; j <= node->link_count; j++) {
        walk *next = w; // the first link comes last, in the place of the walk
        if (j < node->link_count) {
          if (walks == MAX_WALKS) {
            continue;
          }
          next = &p->walks[walks++];
        }
        const stack_link *link = stack_link_at(node, j % node->link_count);
        cell *c = pool_take(&p->memory, sizeof(cell));
        *c = (cell){link->tree, from.trees};
        *next = (walk){link->node, c, from.count + !tree_extra(link->tree)};
      }
    }
  }
}

// prefer compares two versions: below 0 the first is better, above 0 the second,
// and by 2 so much that the other one goes.
static int prefer(const head *a, const head *b) {
  if ((a->status == PAUSED) != (b->status == PAUSED)) {
    return a->status == PAUSED ? 2 : -2;
  }
  int32_t pa = a->node->precedence, pb = b->node->precedence;
  return pa > pb ? -1 : pa < pb;
}

bool condense(parser *p) {
  bool alive = false;
  for (int i = 0; i < p->head_count; i++) {
    if (p->heads[i].status == HALTED) {
      remove_version(p, i--);
      continue;
    }
    const head judged = p->heads[i]; // also when another one has come to stand there
    alive = alive || judged.status == ACTIVE;
    for (int j = 0; j < i; j++) {
      int order = prefer(&p->heads[j], &judged);
      if (order == -2) {
        remove_version(p, i--);
        break;
      } else if (order == 2) {
        remove_version(p, j--);
        i--;
      } else if (merge_versions(p, j, i)) {
        i--;
        break;
      } else if (order > 0) {
        head swapped = p->heads[i];
        p->heads[i] = p->heads[j];
        p->heads[j] = swapped;
      }
    }
  }
  while (p->head_count > MAX_VERSIONS) {
    remove_version(p, MAX_VERSIONS);
  }
  return alive;
}
