#ifndef QUARRY_POOL_H
#define QUARRY_POOL_H

#include <stdint.h>

#include "arena.h"

// pool hands out memory that lives as long as its arena, without the arena's
// bookkeeping for pieces that are given back. It never refuses: who takes without
// knowing how much it will be looks at left.
typedef struct {
  quarry_arena *arena;
  char *at, *end;
  int64_t left; // bytes until there are more than should be; below 0 there are
} pool;

enum { POOL_PIECE = 64 << 10 };

static inline void *pool_take(pool *p, size_t size) {
  size = (size + 7) & ~(size_t)7;
  if ((size_t)(p->end - p->at) < size) {
    size_t piece = size > POOL_PIECE / 8 ? size : POOL_PIECE;
    char *memory = quarry_arena_take(p->arena, piece);
    p->left -= (int64_t)piece;
    if (piece == size) {
      return memory;
    }
    p->at = memory;
    p->end = memory + piece;
  }
  void *taken = p->at;
  p->at += size;
  return taken;
}

#endif
