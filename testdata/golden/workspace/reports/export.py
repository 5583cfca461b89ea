"""Export of summaries as CSV."""

import csv

from reports.summary import by_week


def write_weekly(sales, path):
    """Write one row a week: the Monday and the sum in cents."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        for monday, cents in sorted(by_week(sales).items()):
            writer.writerow([monday.isoformat(), cents])


def average(sales):
    """The mean amount of a sale in cents, 0 without sales."""
    total = sum(s.cents for s in sales)
    return total / len(sales)
