// What the process takes of its address space, settled before it has a second thread: a
// login node may allow 1.5 GB of it (ulimit -v), of which Go reserves 1.1 at its start.

#define _GNU_SOURCE

#include <stdlib.h> // which says whether this is glibc

#ifdef __GLIBC__
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>

// HEAPS: glibc reserves 64 MB for the heap of each thread that asks for memory, and keeps
// what was freed there (arena.c has the figures). Parsers that work side by side have
// arenas of their own, so one heap is enough.
enum { HEAPS = 1 };

// SMALL_STACK is for each thread where address space is short, in place of the 8 MB of
// `ulimit -s`. macOS gives threads 512 KB.
enum { SMALL_STACK = 2 << 20 };

__attribute__((constructor)) static void save_address_space(void) {
  mallopt(M_ARENA_MAX, HEAPS);
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return;
  }
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, SMALL_STACK) == 0) {
    pthread_setattr_default_np(&attributes);
  }
}
#endif
