// An arena is the memory of one parse. See arena.c.
#ifndef QUARRY_ARENA_H
#define QUARRY_ARENA_H

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

// quarry_arena_pause makes what takes memory from an arena look at raised, and call
// quarryPause with handle where it is not 0, until it is called with NULL. The thread
// that uses the arena may stand still then.
void quarry_arena_pause(quarry_arena *arena, const int32_t *raised, uintptr_t handle);

// quarry_arena_pass is where work in an arena may stand still.
void quarry_arena_pass(const quarry_arena *arena);

// quarry_arena_raised is where quarry_arena_pass looks; never NULL.
const int32_t *quarry_arena_raised(const quarry_arena *arena);

// quarry_arena_take returns size bytes of an arena.
void *quarry_arena_take(quarry_arena *arena, size_t size);

// quarry_arena_size answers how many bytes an arena has of the system, but for those
// that it keeps for later.
size_t quarry_arena_size(const quarry_arena *arena);

// quarry_count_memory makes the calling thread add to held what it takes of the
// system for tree-sitter, in bytes, and subtract what it frees; NULL ends that.
void quarry_count_memory(int64_t *held);

// quarry_arena_reset frees all that was taken from an arena.
void quarry_arena_reset(quarry_arena *arena);

#endif
