"""P15: thousands of requests that somebody made up from the API's own description.

Generated from /v1/openapi.json as it is served, with a token that is good, people who are there
and keys that were used among those that are not. Nothing may fail here, and nothing may be answered
in a way that the description does not say.
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.stateful import run_state_machine_as_test

from reticent.console.api import KEY
from reticent.console.app import make_app
from reticent.gateway import Gateway
from reticent.queries.offered import offered
from tests.unit.console.conftest import PLENTY
from tests.unit.gateway.seeded import (
    ASKS,
    CLUB,
    ask,
    checked,
    fill,
    lines,
    opened,
    somebody,
    token,
    wishes,
)

pytestmark = pytest.mark.fuzz

PEOPLE = ("ann", "bob", "<script>alert(1)</script>", "é中😀 a/b")
USED = "key-used-0001"
NUMBERS = count()
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "allow_header_conformance",
    "unsupported_method",
)
EXAMPLES = {**dict.fromkeys(offered(), 400), "get_release": 500, "get_terms": 40}
MORE = {"sketches": {"epsilon": "1", "profile_size": 4}, "neighbours": {}, "recommendations": {}}
LEAST = 5000
OFTEN = settings(
    max_examples=1500,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def checks(*, leave_out: str = "") -> list[Any]:
    from schemathesis import checks as plain
    from schemathesis.specs.openapi import checks as openapi

    named = [name for name in CHECKS if name != leave_out]
    return [getattr(plain, name, None) or getattr(openapi, name) for name in named]


class Counted:
    """The application, counting what it answers by the first part of the path and the status."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.answers: Counter[tuple[str, int]] = Counter()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def told(message: Any) -> None:
            if message["type"] == "http.response.start":
                first = (*scope["path"].split("/"), "", "")[2]
                self.answers[first, message["status"]] += 1
            await send(message)

        await self.app(scope, receive, told)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    path: Path = tmp_path_factory.mktemp("schemathesis") / "gateway.db"
    with opened(path) as made:
        people = {name: somebody(preferences=wishes(total=100)) for name in PEOPLE}
        fill(made, people, asks={CLUB: {**ASKS[CLUB], **MORE}})
        ask(made, USED)
        yield made
        assert checked(made).problems == ()


@pytest.fixture(scope="module")
def schema(gateway: Gateway) -> Any:
    import schemathesis
    from schemathesis.python import asgi

    app = make_app(gateway, hosts=[asgi.HOST], limits=PLENTY)
    loaded = schemathesis.openapi.from_asgi("/v1/openapi.json", Counted(app))

    @loaded.hook
    def map_body(context: Any, body: Any) -> Any:
        """Somebody who is here, in three cases of four; the rest is as it was made up."""
        if isinstance(body, dict):
            for at, name in enumerate(("subject", "other")):
                told = body.get(name)
                if isinstance(told, str):
                    place = zlib.crc32(told.encode("utf-8", "replace"))
                    if place % 4:
                        body[name] = PEOPLE[(place // 4 + at) % len(PEOPLE)]
        return body

    @loaded.hook
    def map_headers(context: Any, headers: Any) -> Any:
        """A new key, in three cases of four; made-up ones are used again and again."""
        told = (headers or {}).get("Idempotency-Key")
        if isinstance(told, str) and re.fullmatch(KEY, told) and zlib.crc32(told.encode()) % 4:
            headers["Idempotency-Key"] = f"key-{next(NUMBERS):08d}"
        return headers

    @loaded.hook
    def map_path_parameters(context: Any, path_parameters: Any) -> Any:
        told = (path_parameters or {}).get("key")
        if isinstance(told, str) and zlib.crc32(told.encode("utf-8", "replace")) % 2:
            path_parameters["key"] = USED
        return path_parameters

    return loaded


@pytest.fixture(scope="module")
def headers(gateway: Gateway) -> dict[str, str]:
    return {"Authorization": f"Bearer {token(gateway)}"}


def ask_many(schema: Any, headers: dict[str, str], operation: str, mode: str) -> None:
    """Made-up requests of one operation, each answer checked against the description."""
    from schemathesis import GenerationMode
    from schemathesis.python import asgi

    cases = schema.find_operation_by_id(operation).as_strategy(generation_mode=GenerationMode(mode))
    with asgi.get_client(schema.app) as client:

        @settings(OFTEN, max_examples=EXAMPLES[operation])
        @given(case=cases)
        def work(case: Any) -> None:
            case.call_and_validate(session=client, headers=headers, checks=checks())

        work()


def follow_links(schema: Any, headers: dict[str, str]) -> list[int]:
    """The stateful phase: every answer is asked for again by the link that the description has."""
    again: list[int] = []

    class Machine(schema.as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": headers}

        def validate_response(self, response: Any, case: Any, **others: Any) -> None:
            wanted = checks(leave_out="unsupported_method")
            case.validate_response(response, checks=wanted, headers=headers)
            if case.method == "GET" and "/releases/" in case.path:
                again.append(response.status_code)

    run_state_machine_as_test(
        Machine, settings=settings(OFTEN, max_examples=60, stateful_step_count=6)
    )
    return again


def test_made_up_requests(schema: Any, headers: dict[str, str], gateway: Gateway) -> None:
    """Every answer is as described; and there were enough of every kind to show something."""
    for operation in EXAMPLES:
        for mode in ("positive", "negative"):
            ask_many(schema, headers, operation, mode)
    assert follow_links(schema, headers).count(200) > 10
    answers, statuses = schema.app.answers, Counter[int]()
    for (_, status), times in answers.items():
        statuses[status] += times
    print(f"{answers.total()} requests: {dict(sorted(statuses.items()))}")
    assert answers.total() >= LEAST
    assert not [status for status in statuses if status >= 500]
    good = {path: answers[path, 200] for path in (*offered(), "releases")}
    assert min(good.values()) >= 50, good
    assert {200, 400, 401, 404, 409, 422} <= set(statuses)
    assert len(lines(gateway, "spend")) > 200


def test_a_planted_fault_is_found(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a service that fails on names with a letter outside of ASCII."""
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.python import asgi

    submit = gateway.submit

    def faulty(provider: str, asked: Any) -> Any:
        asked.subject.encode("ascii")
        return submit(provider, asked)

    monkeypatch.setattr(gateway, "submit", faulty)
    app = make_app(gateway, hosts=[asgi.HOST], limits=PLENTY)
    loaded = schemathesis.openapi.from_asgi("/v1/openapi.json", app)
    held = {"Authorization": f"Bearer {token(gateway)}"}
    cases = loaded.find_operation_by_id("histogram").as_strategy()

    @settings(OFTEN, max_examples=300)
    @given(case=cases)
    def work(case: Any) -> None:
        case.call_and_validate(headers=held, checks=[not_a_server_error])

    with pytest.raises(BaseExceptionGroup) as found:
        work()
    assert any("Server error" in str(one) for one in found.value.exceptions)
