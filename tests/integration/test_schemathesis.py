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
from hypothesis import HealthCheck, settings

schemathesis = pytest.importorskip("schemathesis")

from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.python import asgi  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    allow_header_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from reticent.console.api import KEY  # noqa: E402
from reticent.console.app import make_app  # noqa: E402
from reticent.gateway import Gateway  # noqa: E402
from tests.unit.console.conftest import PLENTY  # noqa: E402
from tests.unit.gateway.seeded import (  # noqa: E402
    ask,
    checked,
    fill,
    lines,
    opened,
    somebody,
    token,
    wishes,
)

PEOPLE = ("ann", "bob", "<script>alert(1)</script>", "é中😀 a/b")
USED = "key-used-0001"
NUMBERS = count()
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    allow_header_conformance,
    unsupported_method,
]
EXAMPLES = {"histogram": 800, "profile": 500, "similarity": 800, "release": 500, "terms": 40}
LEAST = 5000
TOLD: Counter[tuple[str, int]] = Counter()
OFTEN = settings(
    max_examples=1500,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


class Counted:
    """The application, counting what it answers."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def told(message: Any) -> None:
            if message["type"] == "http.response.start":
                TOLD[(*scope["path"].split("/"), "", "")[2], message["status"]] += 1
            await send(message)

        await self.app(scope, receive, told)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    path: Path = tmp_path_factory.mktemp("schemathesis") / "gateway.db"
    with opened(path) as made:
        fill(made, {name: somebody(preferences=wishes(total=100)) for name in PEOPLE})
        ask(made, USED)
        yield made
        assert checked(made).problems == ()


@pytest.fixture(scope="module")
def schema(gateway: Gateway) -> Any:
    TOLD.clear()
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


@pytest.mark.parametrize("operation", EXAMPLES)
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_made_up_requests(schema: Any, headers: dict[str, str], operation: str, mode: str) -> None:
    from hypothesis import given

    found = schema.find_operation_by_id(operation)
    how = schemathesis.GenerationMode(mode)
    cases = found.as_strategy(generation_mode=how)
    with asgi.get_client(schema.app) as client:

        @settings(OFTEN, max_examples=EXAMPLES[operation])
        @given(case=cases)
        def work(case: Any) -> None:
            case.call_and_validate(session=client, headers=headers, checks=CHECKS)

        work()


def test_a_release_leads_to_its_answer(schema: Any, headers: dict[str, str]) -> None:
    """The stateful phase: every answer is asked for again by the link that the description has."""
    from hypothesis.stateful import run_state_machine_as_test

    again: list[int] = []

    class Machine(schema.as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": headers}

        def validate_response(self, response: Any, case: Any, **others: Any) -> None:
            case.validate_response(response, checks=CHECKS[:-1], headers=headers)
            if case.method == "GET" and "/releases/" in case.path:
                again.append(response.status_code)

    run_state_machine_as_test(
        Machine, settings=settings(OFTEN, max_examples=60, stateful_step_count=6)
    )
    assert again.count(200) > 10


def test_it_was_much_and_not_in_vain(gateway: Gateway) -> None:
    """Enough cases, and of all kinds: else the tests above would show nothing."""
    total, statuses = TOLD.total(), Counter[int]()
    for (_, status), times in TOLD.items():
        statuses[status] += times
    print(f"{total} requests: {dict(sorted(statuses.items()))}")
    assert total >= LEAST
    assert not [status for status in statuses if status >= 500]
    good = {path: TOLD[path, 200] for path in ("histogram", "profile", "similarity", "releases")}
    assert min(good.values()) >= 50, good
    assert {200, 400, 401, 404, 409, 422} <= set(statuses)
    assert len(lines(gateway, "spend")) > 200


def test_a_planted_fault_is_found(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a service that fails on names with a letter outside of ASCII."""
    submit = gateway.submit

    def faulty(provider: str, asked: Any) -> Any:
        asked.subject.encode("ascii")
        return submit(provider, asked)

    monkeypatch.setattr(gateway, "submit", faulty)
    app = make_app(gateway, hosts=[asgi.HOST], limits=PLENTY)
    loaded = schemathesis.openapi.from_asgi("/v1/openapi.json", app)
    held = {"Authorization": f"Bearer {token(gateway)}"}
    cases = loaded.find_operation_by_id("histogram").as_strategy()
    from hypothesis import given

    @settings(OFTEN, max_examples=300)
    @given(case=cases)
    def work(case: Any) -> None:
        case.call_and_validate(headers=held, checks=[not_a_server_error])

    with pytest.raises(BaseExceptionGroup) as found:
        work()
    assert any("Server error" in str(one) for one in found.value.exceptions)
