#include <string.h>

static int longest(const char *const *names, int n)
{
    int best = 0;
    for (int i = 0; i < n; i++) {
        int length = (int)strlen(names[i]);
        if (length > best)
            best = length;
    }
    return best;
}

int width(const char *const *names, int n)
{
    return longest(names, n) + 1;
}
