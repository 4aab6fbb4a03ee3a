"""Data in memory and the sets that come with the package."""

from reticent.data.adult import ADULT_CATEGORIES, ADULT_COLUMNS, ADULT_SIZE, load_adult
from reticent.data.tables import Table

__all__ = [
    "ADULT_CATEGORIES",
    "ADULT_COLUMNS",
    "ADULT_SIZE",
    "Table",
    "load_adult",
]
