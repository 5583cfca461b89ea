// Memory for parses. tree-sitter asks for tens of small pieces a line of source. Here all
// of them come from blocks that one thread at a time fills, are reused by size, and vanish
// together: nobody walks a tree to free it, no lock or coalescing is paid for, and a parse
// can be left in the middle of a step.

#include "arena.h"
#include "clock.h"
#include "flatten.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

enum {
  UNIT = 16,              // every piece is a multiple of it
  SMALL = 512,            // up to here each multiple is a size class of its own
  SMALL_CLASSES = SMALL / UNIT + 1,
  CLASSES = SMALL_CLASSES + 48, // above, the powers of two
  BLOCK = 1 << 20,
  FIRST_BLOCK = 1 << 14, // of an arena that begins small, and grows by what it has
  KEEP = 16, // blocks that a reset arena holds on to
  LOOK = 1024, // takings of memory between two looks at the clock, some 0.1 ms of a parse
  TAKING = 256, // bytes of a large one that count as one more: they are filled, and read again
};

// piece is what precedes the memory handed out.
typedef struct piece {
  size_t capacity;    // bytes that can be used, from next on
  struct piece *next; // in its class, while it is free
} piece;

#define HEADER offsetof(piece, next)

typedef struct block {
  struct block *next;
  size_t size; // of data
  // So that pieces' memory, behind their 8 byte header, is aligned to 16.
  size_t padding;
  char data[];
} block;

struct quarry_arena {
  block *blocks; // in use, the one being filled first
  block *spare;  // of BLOCK bytes each
  char *at, *end;
  piece *free[CLASSES];
  int kept;
  size_t next; // bytes of the next block
};

static _Thread_local quarry_arena *current;
static _Thread_local quarry_bounds *bounds; // see quarry_bound

static void *checked(void *p, size_t size) {
  if (p == NULL && size > 0) {
    fprintf(stderr, "quarry: no memory left for a parse (%zu bytes)\n", size);
    abort();
  }
  return p;
}

// class_of gives the size class of a request and rounds the request up to it.
static unsigned class_of(size_t *size) {
  size_t units = (*size + HEADER + UNIT - 1) / UNIT;
  if (units < SMALL_CLASSES) {
    units += units == 1; // a free piece holds a pointer
    *size = units * UNIT - HEADER;
    return (unsigned)units;
  }
  unsigned bits = 64 - (unsigned)__builtin_clzll(*size + HEADER - 1);
  *size = ((size_t)1 << bits) - HEADER;
  return SMALL_CLASSES + bits;
}

// is_late answers whether the thread has had its time. To ask for that is a call of the system,
// and under Wine one that takes milliseconds. As no thread has more time than there was, it is
// asked only when the wall's clock says that the rest may be over.
static bool is_late(quarry_bounds *b) {
  uint64_t wall = quarry_wall_micros();
  if (wall < b->look) {
    return false;
  }
  uint64_t had = quarry_thread_micros();
  if (had >= b->until) {
    return true;
  }
  b->look = wall + (b->until - had);
  return false;
}

bool quarry_out_of_time(void) {
  if (bounds == NULL) {
    return false;
  }
  bounds->over = bounds->over || bounds->memory < 0 || is_late(bounds);
  bounds->takings = bounds->over ? LOOK : 0; // what is over is left at the next taking
  return bounds->over;
}

// spend is called for each taking of memory, which a parser does every few steps, before
// anything is taken: size is what was asked for, bytes what the system has less of now.
static void spend(size_t size, int64_t bytes) {
  if (bounds == NULL) {
    return;
  }
  bounds->memory -= bytes;
  bounds->takings += 1 + size / TAKING;
  if ((bounds->memory < 0 || bounds->takings >= LOOK) && quarry_out_of_time() && !bounds->stays) {
    quarry_leave(bounds);
  }
}

static void add_block(quarry_arena *arena, size_t need) {
  block *b = arena->spare;
  if (need <= BLOCK && b != NULL) {
    arena->spare = b->next;
    arena->kept--;
  } else {
    size_t size = need > arena->next ? need : arena->next;
    b = checked(malloc(sizeof(block) + size), size);
    b->size = size;
    arena->next = size < BLOCK / 2 ? 2 * size : BLOCK;
  }
  b->next = arena->blocks;
  arena->blocks = b;
  arena->at = b->data;
  arena->end = b->data + b->size;
  spend(0, (int64_t)b->size);
}

void *quarry_arena_take(quarry_arena *arena, size_t size) {
  unsigned class = class_of(&size);
  piece *p = arena->free[class];
  if (p != NULL) {
    arena->free[class] = p->next;
    return &p->next;
  }
  if ((size_t)(arena->end - arena->at) < size + HEADER) {
    add_block(arena, size + HEADER);
  }
  p = (piece *)arena->at;
  arena->at += size + HEADER;
  p->capacity = size;
  return &p->next;
}

static piece *piece_of(void *memory) { return (piece *)((char *)memory - HEADER); }

static void give_back(quarry_arena *arena, void *memory) {
  piece *p = piece_of(memory);
  size_t size = p->capacity;
  unsigned class = class_of(&size);
  p->next = arena->free[class];
  arena->free[class] = p;
}

static void *take(size_t size) {
  spend(size, 0);
  return quarry_arena_take(current, size);
}

static void *arena_malloc(size_t size) { return current ? take(size) : checked(malloc(size), size); }

static void *arena_calloc(size_t count, size_t size) {
  if (current == NULL) {
    return checked(calloc(count, size), count * size);
  }
  return memset(take(count * size), 0, count * size);
}

static void arena_free(void *memory) {
  if (current == NULL) {
    free(memory);
  } else if (memory != NULL) {
    give_back(current, memory);
  }
}

static void *arena_realloc(void *memory, size_t size) {
  if (current == NULL) {
    return checked(realloc(memory, size), size);
  }
  if (memory == NULL) {
    return take(size);
  }
  size_t have = piece_of(memory)->capacity;
  if (size <= have) {
    return memory;
  }
  void *larger = memcpy(take(size), memory, have);
  give_back(current, memory);
  return larger;
}

// KEEP_FREE is what glibc may hold on to at the end of each of its heaps. By itself it
// lets that grow to 64 MB, once something large was freed, in a heap for each of eight
// threads a processor, and malloc_trim gives back little of any but the first: after 28
// documents of 1 MB such heaps kept 160 to 330 MB, one alone (process.c) 30.
enum { KEEP_FREE = 1 << 20 };

void quarry_install_arenas(void) {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, KEEP_FREE);
#endif
  ts_set_allocator(arena_malloc, arena_calloc, arena_realloc, arena_free);
}

quarry_arena *quarry_arena_new(bool small) {
  quarry_arena *arena = checked(calloc(1, sizeof(quarry_arena)), sizeof(quarry_arena));
  arena->next = small ? FIRST_BLOCK : BLOCK;
  return arena;
}

void quarry_arena_use(quarry_arena *arena) { current = arena; }

void quarry_bound(quarry_bounds *b) { bounds = b; }

void quarry_stay(bool stay) {
  if (bounds != NULL) {
    bounds->stays = stay;
  }
}

void quarry_arena_reset(quarry_arena *arena) {
  for (block *b = arena->blocks, *next; b != NULL; b = next) {
    next = b->next;
    if (b->size == BLOCK && arena->kept < KEEP) {
      b->next = arena->spare;
      arena->spare = b;
      arena->kept++;
    } else {
      free(b);
    }
  }
  arena->blocks = NULL;
  arena->at = arena->end = NULL;
  memset(arena->free, 0, sizeof(arena->free));
}

void quarry_arena_delete(quarry_arena *arena) {
  arena->kept = KEEP;
  quarry_arena_reset(arena);
  for (block *b = arena->spare, *next; b != NULL; b = next) {
    next = b->next;
    free(b);
  }
  free(arena);
}

void quarry_give_back(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
