#ifndef QUARRY_GUARD_H
#define QUARRY_GUARD_H

#include "flatten.h"

// quarry_scanner is what sets a grammar's scanner apart from most.
typedef struct {
  unsigned most;   // bytes of a state it can read again, 0 for nearly all that it is lent
  bool own_memory; // it has a number, and takes no memory for it
  bool forgets;    // it forgets what it took when it is given another state
} quarry_scanner;

// quarry_guard answers a grammar whose scanner keeps within its bounds, whatever the
// text; it lives as long as the process, and is the same if asked for again. NULL means
// that there is no memory or no slot left. One thread at a time may call it.
const TSLanguage *quarry_guard(const TSLanguage *language, quarry_scanner is);

// quarry_close_scanner frees what the scanner has taken of a parse that the calling thread
// has left.
void quarry_close_scanner(void);

#endif
