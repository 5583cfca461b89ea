/*
 * Licence text.
 */

#include <stdio.h>
#include "ledger.h"

#define MAX_ACCOUNTS 100
/* The larger of two. */
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#ifdef DEBUG
static int debug_level = 1;
#endif

/** Direction of a booking. */
enum direction {
    DEBIT, /* out */
    CREDIT = 2
};

typedef unsigned long id_t;

/* One customer's account. */
typedef struct account {
    char *owner;
    long balance, limit;
    struct account *next;
    int (*notify)(struct account *self);
} account_t;

struct ledger {
    account_t accounts[MAX_ACCOUNTS];
    enum direction last;
};

union value { int i; float f; };

typedef enum { RED, GREEN } color_t;

typedef int (*callback)(account_t *);

extern int errors;
static const char *names[] = { "a", "b" };

int account_find(struct ledger *l, const char *owner);

// Adds an amount.
// Never fails.
static inline long
account_deposit(account_t *a, long amount)
{
    a->balance += amount;
    a->notify(a);
    if (MAX(amount, 3) > 3)
        printf("%ld\n", amount);
    return ledger_total((struct ledger *)a);
}

#ifndef NO_MAIN
char *account_name(account_t *a) { return a->owner; }

int main(int argc, char **argv)
{
    struct ledger l;
    callback f = handler;
    account_find(&l, argv[1]);
    return 0;
}
#endif

/* What stands alone on the last line is no macro. */
enum opcode {
    OP_ADD, /* adds, */
    OP_END
};
