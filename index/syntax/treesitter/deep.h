#ifndef QUARRY_DEEP_H
#define QUARRY_DEEP_H

#include <stdbool.h>
#include <stddef.h>

// quarry_on_stack calls f with a stack of that many bytes and waits for it. It
// answers false if there is no such stack; f was not called then.
bool quarry_on_stack(size_t bytes, void (*f)(void *), void *argument);

#endif
