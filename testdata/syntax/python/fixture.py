#!/usr/bin/env python3
"""Accounts and their ledger."""

import os
import os.path as path, sys
from collections import OrderedDict, defaultdict as dd
from . import util
from ..core.models import *

MAX_ACCOUNTS = 100
_cache = {}
timeout: float = 3.0

# Direction of a booking.
class Direction(enum.Enum):
    DEBIT = 1
    CREDIT = 2


class Account(Base, metaclass=Meta):
    """One customer's account.

    Kept in a ledger.
    """

    owner: str = ""

    def __init__(self, owner: str, ledger: "Ledger") -> None:
        super().__init__()
        self.owner = owner
        util.register(self)

    @property
    def balance(self) -> Money:
        """The sum of all bookings."""
        return sum(b.amount for b in self.bookings())

    @staticmethod
    @cached(ttl=3)
    def parse(text: str) -> Optional[Account]:
        def clean(s):
            return s.strip()
        return Account(clean(text))


class Savings(models.Account, Generic[T]):
    rate = 0.1


# Transfers between two accounts.
#
# Atomic.
@app.route("/transfer")
async def transfer(source: Account, target: dict[str, Account], *amounts: int) -> list[Booking]:
    async with lock(source):
        return [await book(source, target, a) for a in amounts]


def main():
    transfer(Account("a"), Account("b"))


if __name__ == "__main__":
    main()

# What the machine has.
try:
    import ujson as json
    FAST = True
except ImportError:
    FAST = False

WIDTH, HEIGHT = 80, 25
first, *others = load()
low = high = 0

if sys.version_info > (3, 12):
    SIZES = [1, 2]

    def batched(items):
        return chunk(items)


class Portable:
    left, right = 1, 2

    if os.name == "nt":
        separator = ";"

        def home(self):
            """Where it lives."""
            local = path.expand("~")
            return local
