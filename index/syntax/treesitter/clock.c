#include "clock.h"

uint64_t quarry_slowness = 1;

#ifdef _WIN32
#include <windows.h>

uint64_t quarry_thread_micros(void) {
  FILETIME created, ended, system, user; // in tenths of microseconds
  GetThreadTimes(GetCurrentThread(), &created, &ended, &system, &user);
  uint64_t tenths = ((uint64_t)system.dwHighDateTime + user.dwHighDateTime) << 32;
  return (tenths + system.dwLowDateTime + user.dwLowDateTime) / 10 / quarry_slowness;
}

uint64_t quarry_wall_micros(void) {
  LARGE_INTEGER second, now;
  QueryPerformanceFrequency(&second);
  QueryPerformanceCounter(&now);
  uint64_t seconds = now.QuadPart / second.QuadPart, rest = now.QuadPart % second.QuadPart;
  return (seconds * 1000000 + rest * 1000000 / second.QuadPart) / quarry_slowness;
}
#else
#include <time.h>

static uint64_t micros(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return ((uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000) / quarry_slowness;
}

uint64_t quarry_thread_micros(void) { return micros(CLOCK_THREAD_CPUTIME_ID); }

uint64_t quarry_wall_micros(void) { return micros(CLOCK_MONOTONIC); }
#endif
