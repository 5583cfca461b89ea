// Parses texts made of a seed's pieces and of what scanners count, in all the ways that quarry does. See ../scanners.sh.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flatten.h"
#include "guard.h"

extern const TSLanguage *LANGUAGE(void);

enum { ROOM = 1 << 15, PIECE = 1500, LIMIT = 15000, LEFT = 3000 }; // bytes, bytes, microseconds

typedef struct {
  uint32_t length;
  char data[ROOM];
} text;

static const char *words[] = {
  "<<", "<<-", "<<~", "<<<", "EOF", "\nEOF\n", "'", "\"", "`", "\"\"\"", "'''", "${", "#{", "{", "}", "(", ")", "[", "]", "$", "$$", "$a$", "#",
  "##", "\\", "\n", "\r\n", "\t", " ", "    ", "> ", "- ", "1. ", "```", "~~~", "---\n", "***", "| a | b |\n|---|---|\n", "<div>", "</div>", "<a-b>",
  "<script>", "</script>", "<!--", "-->", "@\"", "$\"", "$@\"", "r#\"", "\"#", "R\"x(", ")x\"", "f\"", "f'''", "%q(", "%w[", "/*", "*/", "//", "--",
  "[[", "]]", "[=[", "]=]", "~s(", "?>", "<?php", ";", ":", "=", ",", ".", "%{", "A", "x", "\xc3\xa9", "\xff", "\xc3", "0", "if", "fi", "do", "done",
  "case", "esac", "end", "def", "class", "{{", "}}", "#\\(", "\\(", "&a", "!!x", "? ", "|-\n", ">-\n",
};

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return n > 0 ? (uint32_t)(state >> 11) % n : 0;
}

static void insert(text *t, uint32_t at, const char *data, uint32_t length) {
  if (t->length + length <= ROOM) {
    memmove(t->data + at + length, t->data + at, t->length - at);
    memcpy(t->data + at, data, length);
    t->length += length;
  }
}

static void change(text *t) {
  uint32_t at = below(t->length + 1), times = 1 + below(below(12) > 0 ? 4 : 1100), length = below(100);
  if (length > t->length - at) {
    length = t->length - at;
  }
  const char *first = words[below(sizeof(words) / sizeof(*words))], *second = words[below(sizeof(words) / sizeof(*words))];
  char copy[100];
  switch (below(4)) {
  case 0:
    memmove(t->data + at, t->data + at + length, t->length - at - length);
    t->length -= length;
    break;
  case 1:
    for (memcpy(copy, t->data + at, length); times > 0; times--) {
      insert(t, at, copy, length);
    }
    break;
  case 2:
    second = "";
    // fallthrough
  default:
    for (; times > 0; times--) {
      insert(t, at, second, strlen(second));
      insert(t, at, first, strlen(first));
    }
  }
}

static TSInputEdit edit_between(const text *a, const text *b) {
  uint32_t start = 0, tail = 0, least = a->length < b->length ? a->length : b->length;
  while (start < least && a->data[start] == b->data[start]) {
    start++;
  }
  while (tail < least - start && a->data[a->length - 1 - tail] == b->data[b->length - 1 - tail]) {
    tail++;
  }
  return (TSInputEdit){start, a->length - tail, b->length - tail, {0, start}, {0, a->length - tail}, {0, b->length - tail}};
}

// parse copies the text to memory of its very length, so that a sanitizer sees who
// reads on, and parses it within an arena, with a limit that many do not keep, and outside.
static TSTree *parse(quarry_arena *arena, const TSLanguage *language, const TSTree *old, const TSInputEdit *edit, const text *t) {
  uint32_t count;
  char *exact = memcpy(malloc(t->length), t->data, t->length);
  if (old == NULL) {
    quarry_parse(arena, language, exact, t->length, LIMIT, INT64_MAX, &count);
    quarry_arena_reset(arena);
    quarry_parse(arena, language, exact, t->length, below(LEFT), INT64_MAX, &count);
    quarry_arena_reset(arena);
  }
  TSTree *tree = quarry_parse_tree(NULL, language, old, edit, exact, t->length, LIMIT, INT64_MAX, NULL);
  free(exact);
  return tree;
}

int main(int argc, char **argv) {
  static text seed, now, next;
  static const TSLanguage *language;
  FILE *f = argc == 3 ? fopen(argv[1], "rb") : NULL;
  if (f == NULL) {
    fprintf(stderr, "usage: fuzz SEED SECONDS\n");
    return 2;
  }
  seed.length = fread(seed.data, 1, ROOM / 2, f);
  fclose(f);
  quarry_install_arenas();
  language = quarry_guard(LANGUAGE(), (quarry_scanner){SCANNER});
  quarry_arena *arena = quarry_arena_new(false);
  uint32_t texts = 0;
  for (time_t end = time(NULL) + atoi(argv[2]); time(NULL) < end;) {
    now.length = seed.length < PIECE ? seed.length : PIECE;
    memcpy(now.data, seed.data + below(seed.length - now.length + 1), now.length);
    for (uint32_t changes = 1 + below(6); changes > 0; changes--) {
      change(&now);
    }
    TSTree *tree = parse(arena, language, NULL, NULL, &now);
    for (uint32_t edits = below(4); edits > 0 && tree != NULL; edits--) {
      next = now;
      change(&next);
      TSInputEdit edit = edit_between(&now, &next);
      TSTree *edited = parse(arena, language, tree, &edit, &next);
      ts_tree_delete(tree);
      tree = edited;
      now = next;
      texts++;
    }
    if (tree != NULL) {
      ts_tree_delete(tree);
    }
    texts++;
  }
  quarry_arena_delete(arena);
  fprintf(stderr, "%u texts\n", texts);
}
