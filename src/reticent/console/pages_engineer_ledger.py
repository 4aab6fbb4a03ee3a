"""Health of the ledger, the check of its chain, and the providers' tokens.

Not here  what is checked (ledger/verification.py), what a token is (gateway/credentials.py).

Sums are shown in tens of epsilon: the difference of two exact ones would be what one person allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from reticent.amounts import NANO
from reticent.console.views import page
from reticent.console.visitors import engineer_of, form_of
from reticent.errors import ParameterError
from reticent.gateway.credentials import add_token, all_scopes, new_token, revoke, tokens
from reticent.gateway.directory import providers
from reticent.gateway.drawing import OWN
from reticent.ledger import Head, head_of, verify_ledger
from reticent.ledger.reports import health

if TYPE_CHECKING:
    from reticent.gateway import Gateway
    from reticent.ledger import Checked

router = APIRouter(include_in_schema=False)
_TENS = 10
_DAYS = 90
_NAME = 12  # letters of a token's name


@router.get("/engineer/ledger")
def ledger(request: Request) -> Response:
    """Counts, head and tokens."""
    engineer_of(request)
    done = "The token is revoked." if request.query_params.get("done") == "revoked" else ""
    return _page(request, done=done)


@router.post("/engineer/ledger/check")
async def check(request: Request) -> Response:
    """Replay the whole chain, and compare with a head that was kept elsewhere."""
    engineer_of(request)
    fields = await form_of(request)
    return await run_in_threadpool(_check, request, fields.get("head", "").strip())


def _check(request: Request, text: str) -> Response:
    gateway: Gateway = request.app.state.gateway
    try:
        known = Head.of_text(text) if text else None
    except ParameterError:
        return _page(request, wrong_head=True, status=422)
    checked = gateway.read(lambda connection: verify_ledger(connection, known))
    fine = "The chain is whole" + (", and passes through your head." if known else ".")
    found = f"{len(checked.problems)} problems were found." if checked.problems else fine
    return _page(request, checked=checked, done=found)


@router.post("/engineer/tokens")
async def make_token(request: Request) -> Response:
    """A new token, shown on the answer and nowhere again."""
    engineer_of(request)
    return await run_in_threadpool(_make_token, request, await form_of(request))


def _make_token(request: Request, fields: Mapping[str, str]) -> Response:
    gateway: Gateway = request.app.state.gateway
    provider, days = fields.get("provider", ""), fields.get("days", "")
    scopes = [scope for scope in all_scopes() if f"scope_{scope}" in fields]
    count = int(days) if days.isascii() and days.isdigit() and len(days) < 6 else 0
    if provider not in dict(gateway.read(providers)):
        return _page(request, not_made="Choose a provider.", typed=fields, status=422)
    made = new_token()
    try:
        kept = gateway.write(
            lambda c: add_token(c, made, provider=provider, scopes=scopes, days=count)
        )
    except ParameterError as error:
        rules = {"scopes": "Choose at least one kind of release.", "days": "Days: from 1 to 3660."}
        return _page(request, not_made=rules[error.name], typed=fields, status=422)
    return page(request, "engineer_token.html", token=made, kept=kept, expires=_day(kept.expires))


@router.post("/engineer/tokens/revoke")
async def revoke_token(request: Request) -> Response:
    """End a token at once."""
    engineer_of(request)
    fields = await form_of(request)
    gateway: Gateway = request.app.state.gateway
    name = fields.get("name", "")[:_NAME]
    await run_in_threadpool(gateway.write, lambda connection: revoke(connection, name))
    return RedirectResponse("/engineer/ledger?done=revoked", status_code=303)


def _page(
    request: Request,
    *,
    checked: Checked | None = None,
    wrong_head: bool = False,
    not_made: str = "",
    typed: Mapping[str, str] | None = None,
    done: str = "",
    status: int = 200,
) -> Response:
    gateway: Gateway = request.app.state.gateway
    found = gateway.read(health)
    return page(
        request,
        "engineer_ledger.html",
        status=status,
        health=found,
        clock=_moment(found.clock),
        spent=[(name, _tens(nano)) for name, nano in found.spent.items() if name != OWN],
        head=(gateway.read(head_of) if checked is None else checked.head).text(),
        checked=checked,
        wrong_head=wrong_head,
        not_made=not_made,
        known=[name for name, _ in gateway.read(providers)],
        scopes={scope: typed is None or f"scope_{scope}" in typed for scope in all_scopes()},
        provider="" if typed is None else typed.get("provider", ""),
        days=_DAYS if typed is None else typed.get("days", ""),
        tokens=_tokens(gateway),
        done=done,
    )


def _tokens(gateway: Gateway) -> list[dict[str, Any]]:
    now = int(datetime.now(UTC).timestamp())
    return [
        {
            "name": one.name,
            "provider": one.provider,
            "scopes": ", ".join(one.scopes),
            "made": _day(one.made),
            "expires": _day(one.expires),
            "state": "revoked" if one.revoked else "expired" if one.expires <= now else "valid",
        }
        for one in gateway.read(tokens)
    ]


def _tens(nano: int) -> str:
    """Epsilon, down to tens."""
    tens = nano // (_TENS * NANO) * _TENS
    return f"{tens} or more" if tens else f"less than {_TENS}"


def _day(at: int) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def _moment(at: int) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC" if at else "nothing yet"
