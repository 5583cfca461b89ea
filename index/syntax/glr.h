#ifndef QUARRY_GLR_H
#define QUARRY_GLR_H

#include "subtree.h"
#include "arena.h"

// quarry_glr parses a text without syntax errors. The tree lives as long as the
// arena. It returns NULL for any other text.
const subtree *quarry_glr(quarry_arena *arena, const grammar *g, const char *text, uint32_t length);

#endif
