"""Dates as the reports write them."""

from datetime import date, timedelta


def week_start(day: date) -> date:
    """The Monday of a day's week."""
    return day - timedelta(days=day.weekday())


def quarter(day: date) -> str:
    """The quarter of a day, as in 2026-Q1."""
    return f"{day.year}-Q{(day.month - 1) // 3 + 1}"
