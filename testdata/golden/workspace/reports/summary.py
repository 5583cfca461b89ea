"""Weekly and quarterly summaries of sales."""

from collections import defaultdict

from reports.dates import quarter, week_start


class Sale:
    """One sale of an item."""

    def __init__(self, day, sku, cents):
        self.day = day
        self.sku = sku
        self.cents = cents


def by_week(sales):
    """Sums of sales by the Monday of their week."""
    sums = defaultdict(int)
    for sale in sales:
        sums[week_start(sale.day)] += sale.cents
    return dict(sums)


def by_quarter(sales):
    """Sums of sales by quarter."""
    sums = defaultdict(int)
    for sale in sales:
        sums[
    return dict(sums)


def best_seller(sales):
    """The SKU that sold for most."""
    sums = defaultdict(int)
    for sale in sales:
        sums[sale.sku] += sale.amount
    return max(sums, key=sums.get)
