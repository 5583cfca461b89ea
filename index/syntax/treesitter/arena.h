// An arena is the memory of one parse. See arena.c.
#ifndef QUARRY_ARENA_H
#define QUARRY_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct quarry_arena quarry_arena;

// quarry_install_arenas makes tree-sitter ask arenas for memory where one is in
// use, and malloc elsewhere. Call it once, before anything else here.
void quarry_install_arenas(void);

quarry_arena *quarry_arena_new(void);
void quarry_arena_delete(quarry_arena *arena);

// quarry_arena_use makes the calling thread take tree-sitter's memory from an
// arena; NULL ends that.
void quarry_arena_use(quarry_arena *arena);

// quarry_arena_take returns size bytes of an arena.
void *quarry_arena_take(quarry_arena *arena, size_t size);

// quarry_bounds is what a parse may take, and whether it has taken more.
typedef struct {
  int64_t memory; // bytes left
  uint64_t until; // when to end, by the thread's own clock
  size_t takings; // of memory, since the clock was looked at
  size_t over; // a parser's cancellation flag: not 0 if a bound is met
} quarry_bounds;

// quarry_bound makes what the calling thread takes of memory for tree-sitter count
// against bounds, of an arena's or the system's; NULL ends that. A parser that is given the flag
// stops by itself, and no sooner on a busy machine than on an idle one.
void quarry_bound(quarry_bounds *bounds);

// quarry_out_of_time answers whether a bound of the calling thread is met, for what takes
// time without taking memory. It looks at the clock.
bool quarry_out_of_time(void);

// quarry_arena_reset frees all that was taken from an arena.
void quarry_arena_reset(quarry_arena *arena);

#endif
