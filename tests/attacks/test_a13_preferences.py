"""A13, P18: what a provider sees does not tell what a person allows.

Two people differ in their preferences only. With the same coins, status, headers and body are the
same to the byte in all cases that Theorem 2 of docs/theory/terms.md names, and in all others but
for the numbers in ``value``. Two services that are built as most are built fail the same test.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reticent.console import slots
from reticent.console.app import make_app
from reticent.console.problems import Problem
from reticent.gateway import Asked, Gateway
from reticent.gateway.drawing import Drawn
from reticent.queries.public_terms import AttributeTerms
from tests.unit.console.conftest import PLENTY
from tests.unit.gateway.seeded import (
    ADS,
    CLUB,
    Told,
    asking,
    call,
    fill,
    lines,
    opened,
    somebody,
    token,
    wishes,
)

ITEMS = ("Heat", "Brazil", "Alien")
USED_UP = wishes(total="0.000000001")
FULL = wishes()
WEIGHTLESS = wishes() + "[items]\ndefault = 0\n"
NOTHING = {
    "not named": "version = 1\nattributes.default = 4\n",
    "another is named": wishes(provider=ADS),
    "an empty file": "version = 1\n",
    "all withheld": wishes(default='"withhold"'),
    "no line about attributes": wishes(default=None),
    "all withheld from them": wishes() + f'[providers."{CLUB}".attributes]\ndefault = "withhold"\n',
    "no item counts": WEIGHTLESS,
    "used up": USED_UP,
    "used up and renewed daily": wishes(total="0.000000001", renews="daily"),
}
LESS = {
    "a smaller epsilon": wishes(epsilon="0.05"),
    "less of each attribute": wishes(default="0.01"),
    "half of each item": wishes() + "[items]\ndefault = 0.5\n",
    "one item less": wishes() + "[items]\nHeat = 0\n",
    "one attribute less": wishes()
    + '[attributes]\nDrama = "withhold"\n'.replace("[attributes]\n", ""),
}
LESS["one attribute less"] = 'version = 1\n[attributes]\ndefault = 4\nDrama = "withhold"\n' + (
    f'[providers."{CLUB}"]\nepsilon = 4\n'
)
SAME = {
    "more than is asked for": wishes(epsilon=50, default=50),
    "no total": wishes(total=None),
    "a total that is nearly used up": wishes(total="2.5"),
    "renewed daily": wishes(renews="daily"),
    "others are named": wishes() + f'[providers."{ADS}"]\nepsilon = 0.1\n',
    "a comment": wishes() + "# nobody's business\n",
    "items that are not there": wishes() + '[items]\n"Never seen" = 0\n',
    "something hidden": wishes(more="[hide]\nincome = { leak_bits = 0.0001 }"),
}
Service = Callable[[Gateway], Any]


def service(gateway: Gateway) -> Any:
    return make_app(gateway, limits=PLENTY)


def seen(
    path: Path, text: str, items: tuple[str, ...] = ITEMS, *, make: Service = service, asks: int = 5
) -> list[Told]:
    """All that a provider sees of somebody with these preferences; coins are always the same."""
    path.parent.mkdir(exist_ok=True)
    with opened(path, seed=20_261_116) as gateway:
        fill(gateway, {"who": somebody(items, preferences=text), "bob": somebody(["Ran"])})
        app, held = make(gateway), token(gateway)
        told = [call(app, **asking(held, f"key-{k:05d}", "who")) for k in range(asks)]
        told += [call(app, **asking(held, "key-00000", "who"))]  # again
        told += [call(app, **asking(held, "key-00000", "bob"))]  # for something else
        headers = [("authorization", f"Bearer {held}")]
        for path_ in ("/v1/releases/key-00001", "/v1/releases/key-zzzzz", "/v1/terms"):
            told.append(call(app, "GET", path_, headers=headers))
        told += [call(app, **asking(held, "key-nobody", "nobody"))]
        return told


def bare(told: Told) -> tuple[Any, ...]:
    """Without the numbers in ``value``, and so without its length."""
    status, headers, body = told.visible
    data = json.loads(body)
    if "value" in data:
        data["value"] = sorted(data["value"])
    return status, [pair for pair in headers if pair[0] != "content-length"], json.dumps(data)


def equal(one: list[Told], two: list[Told]) -> bool:
    return [told.visible for told in one] == [told.visible for told in two]


def alike(one: list[Told], two: list[Told]) -> bool:
    return [bare(told) for told in one] == [bare(told) for told in two]


@pytest.fixture(scope="module", autouse=True)
def short_ticks() -> Iterator[None]:
    """Thousands of answers here wait for the next tick, each alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slots, "TICK", PLENTY.slot_seconds)
        yield


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> list[Told]:
    """Somebody who allows the terms in full."""
    return seen(tmp_path_factory.mktemp("full") / "gateway.db", FULL)


@pytest.fixture(scope="module")
def nobodys(tmp_path_factory: pytest.TempPathFactory) -> list[Told]:
    """Somebody without items."""
    return seen(tmp_path_factory.mktemp("nobody") / "gateway.db", FULL, ())


@pytest.mark.parametrize("case", NOTHING)
def test_who_allows_nothing_is_who_has_nothing(
    tmp_path: Path, nobodys: list[Told], full: list[Told], case: str
) -> None:
    found = seen(tmp_path / "gateway.db", NOTHING[case])
    assert equal(found, nobodys)
    assert alike(found, full)
    assert not equal(found, full)  # the coins are the same: only the person's items differ


@pytest.mark.parametrize("case", [*NOTHING, *LESS, *SAME])
def test_who_has_nothing_shows_nothing(tmp_path: Path, nobodys: list[Told], case: str) -> None:
    text = (NOTHING | LESS | SAME)[case]
    assert equal(seen(tmp_path / "gateway.db", text, ("not in the catalogue",)), nobodys)


@pytest.mark.parametrize("case", SAME)
def test_who_allows_the_terms_in_full_is_the_same_whatever_else(
    tmp_path: Path, full: list[Told], case: str
) -> None:
    assert equal(seen(tmp_path / "gateway.db", SAME[case]), full)


@pytest.mark.parametrize("case", LESS)
def test_who_allows_less_differs_in_numbers_only(
    tmp_path: Path, full: list[Told], case: str
) -> None:
    found = seen(tmp_path / "gateway.db", LESS[case])
    assert alike(found, full)
    assert not equal(found, full)


def test_an_end_in_between_does_not_show(
    tmp_path: Path, full: list[Told], nobodys: list[Told]
) -> None:
    """A total for two releases: two of ann, then noise; the form is the same throughout."""
    found = seen(tmp_path / "gateway.db", wishes(total="0.9"))
    assert alike(found, full)
    assert equal(found[:2], full[:2])
    assert equal(found[2:5], nobodys[2:5])


def forms(folder: Path, kind: str, text: str) -> list[Any]:
    """All that a provider sees of a profile or a comparison but for the numbers in ``value``."""
    other = {"other": "bob"} if kind == "similarity" else {}
    with opened(folder / f"{kind}.db", seed=1) as gateway:
        fill(gateway, {"who": somebody(ITEMS, preferences=text), "bob": somebody(["Ran"])})
        app, held = service(gateway), token(gateway)
        told = [
            call(app, **asking(held, f"key-{k:05d}", "who", kind=kind, **other)) for k in range(3)
        ]
    rest = []
    for one in told:
        data = one.json
        drawn = data.pop("value")
        form = sorted(drawn) if kind == "profile" else type(drawn).__name__
        kept = [pair for pair in one.visible[1] if pair[0] != "content-length"]
        rest.append((one.status, kept, data, form))
    return rest


@pytest.fixture(scope="module")
def full_forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Of somebody who allows the terms in full."""
    folder = tmp_path_factory.mktemp("forms")
    return {kind: forms(folder, kind, FULL) for kind in ("profile", "similarity")}


@pytest.mark.parametrize("kind", ["profile", "similarity"])
@pytest.mark.parametrize("case", [*NOTHING, *LESS])
def test_profiles_and_comparisons_have_one_form(
    tmp_path: Path, full_forms: dict[str, list[Any]], kind: str, case: str
) -> None:
    assert forms(tmp_path, kind, (NOTHING | LESS)[case]) == full_forms[kind]


# Controls: services as they are usually built


def refusing(gateway: Gateway) -> Any:
    """Says no where a person has said no."""
    submit = gateway.submit

    def naive(provider: str, asked: Asked) -> Any:
        person = gateway.person(asked.subject)
        if provider not in person.preferences.providers:
            raise Problem(403, "this person does not allow it")
        account = [
            row
            for row in gateway.read(
                lambda c: c.execute("SELECT lim FROM account WHERE subject = 'who'").fetchall()
            )
            if row[0] == 1
        ]
        if account:
            raise Problem(429, "the budget is used up")
        return submit(provider, asked)

    gateway.submit = naive  # type: ignore[method-assign]
    return service(gateway)


def widening(gateway: Gateway) -> Any:
    """Adds more noise for who allows less, as releases by a device of one's own do."""
    draw = gateway._draw

    def naive(offer: Any, people: Any, key: str) -> Any:
        drawn = draw(offer, people, key)
        assert isinstance(offer.terms, AttributeTerms)
        granted = people[0].person.preferences.providers.get(offer.provider)
        wider = 1 if granted is None else max(1, 4 / float(granted.epsilon))
        released, cover = (
            {name: x * wider for name, x in one.items()} for one in (drawn.released, drawn.cover)
        )
        return Drawn(released, cover, drawn.lost)

    gateway._draw = naive  # type: ignore[method-assign]
    return service(gateway)


def telling(gateway: Gateway) -> Any:
    """Says in a header what is left, so that providers can plan."""
    app = service(gateway)

    async def told(scope: Any, receive: Any, send: Any) -> None:
        async def more(message: Any) -> None:
            if message["type"] == "http.response.start":
                total = gateway.person("who").preferences.providers.get(CLUB)
                message["headers"] = [
                    *message["headers"],
                    (b"x-budget", str(total and total.total).encode()),
                ]
            await send(message)

        await app(scope, receive, more)

    return told


@pytest.mark.parametrize(
    ("make", "case", "items"),
    [
        (refusing, NOTHING["not named"], ITEMS),
        (refusing, USED_UP, ITEMS),
        (widening, LESS["a smaller epsilon"], ("not in the catalogue",)),
        (telling, USED_UP, ()),
        (telling, SAME["no total"], ()),
    ],
    ids=["refuses", "refuses when used up", "widens", "tells", "tells of no total"],
)
def test_a_naive_service_is_caught(
    tmp_path: Path, nobodys: list[Told], make: Service, case: str, items: tuple[str, ...]
) -> None:
    found = seen(tmp_path / "gateway.db", case, items, make=make)
    usual = seen(tmp_path / "usual.db", FULL, (), make=make)
    assert not equal(found, usual)
    assert equal(seen(tmp_path / "ours.db", case, items), nobodys)  # ours, asked the same, is not


# Time


def times(path: Path, text: str, calls: int) -> tuple[Gateway, list[dict[str, Any]]]:
    gateway = opened(path)
    fill(gateway, {"who": somebody(ITEMS, preferences=text)})
    held = token(gateway)
    return gateway, [asking(held, f"key-{k:05d}", "who") for k in range(calls)]


def test_time_does_not_tell_who_allows_nothing(tmp_path: Path) -> None:
    """Processor time, in turns; a machine that others use is too noisy for a clock on the wall."""
    import asyncio
    import time

    from tests.unit.gateway.seeded import say

    calls = 300
    made = [
        times(tmp_path / f"{k}.db", text, calls)
        for k, text in enumerate((FULL, NOTHING["an empty file"], USED_UP))
    ]
    apps = [service(gateway) for gateway, _ in made]
    spent: list[list[float]] = [[], [], []]

    async def work() -> None:
        for k in range(calls):
            for which in np.random.default_rng(k).permutation(3).tolist():
                began = time.thread_time()
                told = await say(apps[which], **made[which][1][k])
                spent[which].append(time.thread_time() - began)
                assert told.status == 200

    asyncio.run(work())
    for gateway, _ in made:
        assert len(lines(gateway, "spend")) == calls
        gateway.close()
    warm = [np.array(one[60:]) for one in spent]
    for other in (1, 2):  # the area of 240 against 240 is within 0.027 of 1/2 or so: 4.8 of these
        assert 0.37 < told_apart(warm[0], warm[other]) < 0.63
    slower = warm[0] * 1.5  # the control: half as much work again is seen, on busy machines too
    assert told_apart(warm[0], slower) > 0.7


def told_apart(one: Any, two: Any) -> float:
    """How often a call of the second takes longer than one of the first: the area of a guesser."""
    return float(np.mean(two[None, :] > one[:, None]))
