"""The provider's API, version 1: ask for a release of one person, get value, card and key.

There is an operation for each kind of query that is offered, made from its declaration.

Theory    docs/theory/terms.md, Theorem 2 (preferences do not show)
Not here  what is released (gateway/), sizes and rates (guards.py, limits.py).

A provider comes with a bearer token and, for each release, a key of its own making. The same key
gets the same answer for ever, and is charged once. No answer and no error depends on what a person
allows or has left, and every one that concerns a person takes its slot (slots.py).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema, create_model

from reticent.console.guards import too_many
from reticent.console.problems import Problem
from reticent.gateway import Asked, NoSuchPerson, NotOffered
from reticent.ledger import KeyReused, LedgerError, Stale
from reticent.queries.base import Query, Shape
from reticent.queries.offered import derived_from
from reticent.queries.offering import Lasts

if TYPE_CHECKING:
    from starlette.datastructures import State

    from reticent.gateway import Gateway
    from reticent.gateway.credentials import Caller

KEY = r"^[A-Za-z0-9_-]{8,100}$"
Name = Annotated[str, Field(min_length=1, max_length=200)]
Model = TypeVar("Model", bound=BaseModel)
_KEY = re.compile(KEY)
_PROBLEM = {"type": "object", "required": ["type", "title", "status"]}


class Body(BaseModel):
    """A request; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class OfOne(Body):
    """A release of one person."""

    subject: Name


class OfTwo(Body):
    """A comparison of one person with another."""

    subject: Name
    other: Name


class ReleaseAnswer(BaseModel):
    """What is released: the same for the same key, whatever happens."""

    model_config = ConfigDict(extra="forbid")
    schema_: str = Field(alias="schema", description="release/1")
    kind: str
    subject: str
    other: str | None = None
    key: str
    terms: str = Field(description="Which public terms of yours it was made on")
    value: Any = Field(description="As the operation of its kind says")
    card: dict[str, Any] = Field(description="The guarantee card of the terms")


class OfferAnswer(BaseModel):
    """Your public terms for one kind of release."""

    kind: str
    asked: dict[str, Any] = Field(description="The options of the query, as you ask for it")
    terms: str
    card: dict[str, Any]


class TermsAnswer(BaseModel):
    """All that you ask for, in public."""

    schema_: str = Field(alias="schema", description="terms/1")
    provider: str
    offers: list[OfferAnswer]


def _responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    said = {"application/problem+json": {"schema": _PROBLEM}}
    return {status: {"description": "Problem", "content": said} for status in statuses}


_ALWAYS = (400, 401, 403, 429, 503)
_AGAIN = {
    "operationId": "get_release",
    "parameters": {"key": "$request.header.Idempotency-Key"},
    "description": "The same answer, for as long as the person is here",
}
_ASKING = {
    200: {"description": "What is released", "links": {"again": _AGAIN}},
    **_responses(*_ALWAYS, 404, 408, 409, 413, 415, 422),
}


def _described(model: type[BaseModel]) -> dict[str, Any]:
    """How a request looks, for the OpenAPI file; we read it ourselves, with our own limits."""
    schema = model.model_json_schema()
    schema.pop("description", None)
    key = {"type": "string", "pattern": KEY}
    said = "Of your making, for ever: the same key gets the same answer and is charged once."
    return {
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "parameters": [
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": True,
                "schema": key,
                "description": said,
            }
        ],
        "security": [{"token": []}],
    }


def _answer_of(query: type[Query]) -> type[ReleaseAnswer]:
    """How an answer of one kind looks."""
    value = Annotated[Any, WithJsonSchema(dict(query.offering.value))]
    told = Field(description=query.about())
    return create_model(f"{query.__name__}Answer", __base__=ReleaseAnswer, value=(value, told))


def _operation(query: type[Query]) -> Callable[[Request], Awaitable[Response]]:
    """What answers requests for one kind."""
    model = OfTwo if query.shape is Shape.PER_PAIR else OfOne
    lasts = query.offering.lasts is not Lasts.REQUEST or derived_from(query) is not None

    async def operation(request: Request) -> Response:
        return await _ask(request, query.kind, model, lasts)

    return operation


@cache
def router(kinds: tuple[type[Query], ...]) -> APIRouter:
    """The operations; which there are is public, and fixed when the service starts."""
    found = APIRouter(prefix="/v1")
    for query in kinds:
        model = OfTwo if query.shape is Shape.PER_PAIR else OfOne
        whose = "two people" if query.shape is Shape.PER_PAIR else "one person"
        found.add_api_route(
            f"/{query.kind}",
            _operation(query),
            methods=["POST"],
            response_model=_answer_of(query),
            responses=_ASKING,
            openapi_extra=_described(model),
            operation_id=query.kind,
            summary=query.offering.of(query).title,
            description=f"{query.about()} Of {whose}, with the noise of your public terms.",
        )
    for path, get, model_of, statuses in (
        ("/releases/{key}", release, ReleaseAnswer, (404, 414)),
        ("/terms", terms, TermsAnswer, ()),
    ):
        found.add_api_route(
            path,
            get,
            methods=["GET"],
            response_model=model_of,
            responses=_responses(*_ALWAYS, *statuses),
            openapi_extra={"security": [{"token": []}]},
            operation_id=f"get_{get.__name__}",
        )
    return found


async def release(request: Request, key: str) -> Response:
    """The answer that one of your keys got; another provider's key is not there."""
    found = _caller(request)
    gateway: Gateway = request.app.state.gateway
    async with request.app.state.slots.slot():
        kept = gateway.answered(found.provider, key) if _KEY.fullmatch(key) else None
        if kept is None or json.loads(kept)["kind"] not in found.scopes:
            raise Problem(404, "no release that this token may see has that key")
        answer = gateway.finish(kept)
    return Response(answer, media_type="application/json")


async def terms(request: Request) -> Response:
    """What you ask for, in public, with the card of each kind of release."""
    found = _caller(request)
    gateway: Gateway = request.app.state.gateway
    offers = gateway.world().offers.get(found.provider, {})
    told = [
        {
            "kind": kind,
            "asked": offer.terms.query.to_request(),
            "terms": offer.id,
            "card": json.loads(offer.card.to_json()),
        }
        for kind, offer in sorted(offers.items())
    ]
    body = {"schema": "terms/1", "provider": found.provider, "offers": told}
    return Response(json.dumps(body), media_type="application/json")


async def _ask(
    request: Request, kind: str, model: type[OfOne] | type[OfTwo], lasts: bool
) -> Response:
    found = _caller(request)
    if kind not in found.scopes:
        raise Problem(403, f"the scopes of this token do not include {kind}")
    key, *more = request.headers.getlist("idempotency-key") or ("",)
    if more or not _KEY.fullmatch(key):
        raise Problem(400, "the header Idempotency-Key must have 8 to 100 letters, digits, - or _")
    body = await _read(request, model)
    other = body.other if isinstance(body, OfTwo) else None
    if other == body.subject:
        raise Problem(422, "other must be another person than subject")
    asked = Asked(kind, body.subject, key, other)
    state = request.app.state
    if state.waiting >= state.limits.waiting:
        raise Problem(503, headers={"retry-after": "1"})
    state.gateway.world()  # new terms are public, and so is the time that reading them takes
    async with state.slots.slot():
        answer = await _answer(state, found.provider, asked, lasts)
    return Response(answer, media_type="application/json")


async def _answer(state: State, provider: str, asked: Asked, lasts: bool) -> bytes:
    """What is sent; work that waits is counted, answers that are held are not."""
    gateway: Gateway = state.gateway
    state.waiting += 1
    try:
        while True:  # once, unless somebody changes something at this very moment
            with suppress(Stale):
                if lasts:  # waits for a draw that may have to be kept first
                    pending = await asyncio.to_thread(gateway.submit, provider, asked)
                else:
                    pending = gateway.submit(provider, asked)
                return gateway.finish((await asyncio.wrap_future(pending)).value)
    except NotOffered:
        raise Problem(403, f"your terms do not include {asked.kind}") from None
    except NoSuchPerson:
        raise Problem(404, "there is nobody of that name here") from None
    except KeyReused:
        raise Problem(409, "use a new key for another request") from None
    except LedgerError:
        # Not written, or perhaps written: the same key finds out which.
        said = "ask again with the same key"
        raise Problem(503, said, headers={"retry-after": "1"}) from None
    finally:
        state.waiting -= 1


def _caller(request: Request) -> Caller:
    """The provider who asks; the same answer whatever is wrong with its token."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    gateway: Gateway = request.app.state.gateway
    found = gateway.caller(token.strip()) if kind.casefold() == "bearer" else None
    if found is None:
        said = "there is no token, or it is unknown, expired or revoked"
        raise Problem(401, said, headers={"www-authenticate": "Bearer"})
    wait = request.app.state.providers.wait(found.provider)
    if wait:
        raise too_many(wait)
    return found


async def _read(request: Request, model: type[Model]) -> Model:
    media = request.headers.get("content-type", "").split(";")[0].strip().casefold()
    if media != "application/json":
        raise Problem(415)
    body = await request.body()
    try:
        text = body.decode("utf-8")
        data = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, numbers of thousands of digits
        raise Problem(400, "the body must be JSON") from None
    try:
        return model.model_validate(data)
    except ValidationError:
        fields = ", ".join(f'"{name}": TEXT' for name in model.model_fields)
        said = f"the body must be {{{fields}}}, texts of 1 to 200 letters, and nothing else"
        raise Problem(422, said) from None


def _no_constant(_: str) -> NoReturn:
    raise ValueError


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a name that is given twice is refused, as readers differ about which one holds."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found
