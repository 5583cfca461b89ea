// An arena is the memory of one parse, or of all versions of a document. See arena.c.
#ifndef QUARRY_ARENA_H
#define QUARRY_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A way out of a call is where quarry_mark was called, as long as that function has not
// returned; quarry_leave goes there, over frames of C only. On Windows a mark without a frame has
// longjmp unwind nothing; clang's own pair comes back with another frame than it left.
// Elsewhere the signals' mask is left alone.
#include <setjmp.h>
typedef jmp_buf quarry_way_out;
#ifdef _WIN32
#define quarry_mark(bounds) _setjmp((bounds)->out, NULL)
#define quarry_leave(bounds) longjmp((bounds)->out, 1)
#else
#define quarry_mark(bounds) _setjmp((bounds)->out)
#define quarry_leave(bounds) _longjmp((bounds)->out, 1)
#endif

typedef struct quarry_arena quarry_arena;

// quarry_install_arenas makes tree-sitter ask arenas for memory where one is in
// use, and malloc elsewhere. Call it once, before anything else here.
void quarry_install_arenas(void);

// quarry_arena_new makes an arena that takes a megabyte at a time, or begins with little:
// for many that are kept.
quarry_arena *quarry_arena_new(bool small);
void quarry_arena_delete(quarry_arena *arena);

// quarry_arena_use makes the calling thread take tree-sitter's memory from an
// arena, and give it back there; NULL ends that. One thread at a time may use it.
void quarry_arena_use(quarry_arena *arena);

// quarry_arena_take returns size bytes of an arena.
void *quarry_arena_take(quarry_arena *arena, size_t size);

// quarry_bounds is what a parse may take, whether it has taken more, and where the thread
// goes on if it has.
typedef struct {
  int64_t memory; // bytes left
  uint64_t until; // when to end, by the thread's own clock
  uint64_t look;  // by the wall's clock: until cannot be reached before
  size_t takings; // of memory, since the clock was looked at
  bool over;
  bool stays; // see quarry_stay
  quarry_way_out out;
} quarry_bounds;

// quarry_bound makes what the calling thread takes of an arena count against bounds; NULL
// ends that. Where a bound is met the thread leaves what it does, however deep in it, and
// returns a second time from quarry_mark(bounds), with what it had taken still taken.
void quarry_bound(quarry_bounds *bounds);

// quarry_stay keeps the calling thread from leaving: what runs has memory that is no arena's.
void quarry_stay(bool stay);

// quarry_out_of_time answers whether a bound of the calling thread is met, for what takes
// time without taking memory. It looks at the clocks.
bool quarry_out_of_time(void);

// quarry_arena_reset frees all that was taken from an arena.
void quarry_arena_reset(quarry_arena *arena);

#endif
