"""All pages of people, in one router.

Not here  the pages themselves (pages_start.py, pages_who.py, …), engineers' (pages_engineer.py).
"""

from __future__ import annotations

from fastapi import APIRouter

from reticent.console import (
    pages_file,
    pages_hidden,
    pages_items,
    pages_left,
    pages_provider,
    pages_start,
    pages_who,
)

router = APIRouter(include_in_schema=False)
for _pages in (
    pages_start,
    pages_who,
    pages_provider,
    pages_items,
    pages_hidden,
    pages_left,
    pages_file,
):
    router.include_router(_pages.router)
