#ifndef QUARRY_CLOCK_H
#define QUARRY_CLOCK_H

#include <stdint.h>

// quarry_thread_micros is how long the calling thread has had a processor, in
// microseconds of a real one: an emulated processor takes quarry_slowness times as long.
uint64_t quarry_thread_micros(void);
extern uint64_t quarry_slowness;

// quarry_wall_micros is a clock that goes at least as fast as that of any thread.
uint64_t quarry_wall_micros(void);

#endif
