#ifndef QUARRY_GUARD_H
#define QUARRY_GUARD_H

#include "flatten.h"

// quarry_guard answers a grammar whose scanner keeps within its bounds, whatever the
// text; it lives as long as the process. NULL means that guard.c does not list the
// scanner.
const TSLanguage *quarry_guard(const TSLanguage *language);

#endif
