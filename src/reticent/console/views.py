"""Pages out of templates: one environment, one way to answer with HTML.

Not here  what stands on a page (pages_*.py), headers and sessions (guards.py, visitors.py).

Everything that is put into a template is escaped; a name that is missing is an error and not an
empty place.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

if TYPE_CHECKING:
    from fastapi import Request

PERSON_PAGES: Final = (
    ("/me", "Overview"),
    ("/me/who", "Who learns what"),
    ("/me/items", "Items"),
    ("/me/hidden", "Inferences"),
    ("/me/left", "What they got"),
    ("/me/file", "File"),
)


@cache
def environment() -> Environment:
    """The templates of this package."""
    made = Environment(
        loader=PackageLoader("reticent.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["part"] = part
    return made


def part(name: str) -> str:
    """A name as one part of an address, whatever stands in it."""
    return quote(name.replace("%", "%25").replace("/", "%2F"), safe="")


def named(told: str) -> str:
    """Inverse of ``part``, of what a server makes of it: a server takes %2F for a slash."""
    return unquote(told)


def page(request: Request, template: str, /, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A template with these values; ``role`` and the forms' token come from the session."""
    session = getattr(request.state, "session", None)
    given = {
        "role": getattr(session, "role", ""),
        "signed_in": getattr(session, "person", "") or "Engineer",
        "form_token": getattr(session, "form", ""),
        "here": request.url.path,
        "code": status,
        "person_pages": PERSON_PAGES,
        "done": "",
        **values,
    }
    text = environment().get_template(template).render(given)
    return HTMLResponse(text, status_code=status)
