"""Every kind that is offered, over HTTP: asked, answered, charged once, covered, refused.

The list of kinds is the registry's. A query of one's own, as CONTRIBUTING.md builds one, is tried
with the same tests.
"""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import reticent as rt
from reticent.console.app import make_app
from reticent.gateway import Gateway, credentials
from reticent.gateway.offers import offers_of, read_asks
from reticent.guarantees import ITEM
from reticent.ledger import Account
from reticent.mechanisms import DiscreteLaplace
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.queries import registry
from reticent.queries.base import Public, Shape
from reticent.queries.card_checks import recomputed
from reticent.queries.cells import cells
from reticent.queries.items import ItemsQuery, ItemsTerms
from reticent.queries.offered import offered, why_not_offered
from reticent.queries.offering import Lasts
from reticent.queries.options import BUDGET, option
from tests.unit.console.conftest import PLENTY
from tests.unit.gateway.seeded import (
    CLUB,
    FILMS,
    Told,
    ask,
    asking,
    at_the_last_moment,
    call,
    checked,
    file_bytes,
    fill,
    opened,
    recoding,
    somebody,
    spent,
    token,
    value,
    wishes,
)
from tests.unit.queries.test_own_query import examples


@dataclass(frozen=True, kw_only=True)
class Tally(ItemsQuery):
    """How many items each person has, whatever they weigh."""

    kind = "tally"
    epsilon: Any = option("What an item may lose.", BUDGET)  # noqa: RUF009

    def terms(self, public: Public) -> Any:
        return TallyTerms(self, public, DiscreteLaplace(epsilon=self.epsilon, size=1, unit=ITEM))


class TallyTerms(ItemsTerms):
    what = "how many items each person has"
    columns = ("person", "items")

    def release(self, profiles: Any, source: Source) -> list[int]:
        return [int(self.mechanism.release([n], source).value[0]) for n in profiles.sizes]


ASKS: dict[str, dict[str, Any]] = {
    "histogram": {"epsilon": "0.4", "attributes": {"default": "0.2"}},
    "similarity": {"epsilon": "0.5"},
    "sketches": {"epsilon": "2", "profile_size": 4, "use": "items"},
    "neighbours": {"k": 3},
    "recommendations": {"n_items": 2},
    "profile": {},
    "coverage": {"epsilon": "1", "size": 6},
    "tally": {"epsilon": "1"},
}
KINDS = list(ASKS)
OTHER = {"similarity": {"other": "bob"}}
CHARGED = {"histogram": 1, "similarity": 1, "coverage": 1, "tally": 1}
"""What three requests under different keys cost, in times of one; those that last cost once."""


@pytest.fixture(scope="module", autouse=True)
def own() -> Iterator[None]:
    """Two queries that a session in Python adds, one of them as CONTRIBUTING.md does it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_added", {})
        rt.register(Tally)
        names: dict[str, Any] = {"__name__": "a package of one's own"}
        for example in examples():
            mode = "single" if example.want else "exec"
            exec(compile(example.source, "CONTRIBUTING.md", mode), names)
        yield
    registry.queries.cache_clear()


@dataclass
class Service:
    """A gateway with everybody in it, and an application in front of it."""

    gateway: Gateway
    app: Any
    token: str

    def ask(self, key: str, kind: str, subject: str = "ann", token: str = "") -> Told:
        given = asking(token or self.token, key, subject, kind=kind, **OTHER.get(kind, {}))
        return call(self.app, **given)


PEOPLE = {
    "ann": ("Heat", "Brazil", "Alien"),
    "bob": ("Up", "Ran"),
    "cleo": ("Heat", "Alien"),
    "empty": (),
}


def service(path: Path, seed: int | None = None, **files: str) -> Service:
    """Everybody allows the terms in full, but for those with a file of their own."""
    gateway = opened(path, seed)
    people = {
        name: somebody(items, preferences=files.get(name, wishes()))
        for name, items in PEOPLE.items()
    }
    fill(gateway, people, asks={CLUB: ASKS})
    return Service(gateway, make_app(gateway, limits=PLENTY), token(gateway))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Service]:
    made = service(tmp_path / "gateway.db")
    yield made
    assert checked(made.gateway).problems == ()
    made.gateway.close()


def test_all_that_is_offered_is_tried_here() -> None:
    assert set(offered()) == set(KINDS)


def test_a_cell_is_offered_or_says_why_not() -> None:
    for query in registry.queries().values():
        cell = cells(query)["surfaces"]["HTTP"]
        assert cell is True if query.kind in KINDS else isinstance(cell, str) and cell
    assert why_not_offered(rt.Quantile) == "about a population, not about one person"


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_key_gets_the_same_bytes(served: Service, kind: str) -> None:
    first = served.ask("key-00001", kind)
    assert first.status == 200, first.body
    told = first.json
    assert (told["kind"], told["subject"], told["key"]) == (kind, "ann", "key-00001")
    jsonschema.validate(told["value"], offered()[kind].offering.value)
    assert served.ask("key-00001", kind).body == first.body
    headers = [("authorization", f"Bearer {served.token}")]
    assert call(served.app, "GET", "/v1/releases/key-00001", headers=headers).body == first.body
    assert served.ask("key-00001", kind, "cleo").status == 409


def cost(served: Service, kind: str) -> int:
    offers = served.gateway.world().offers[CLUB]
    offer = offers[kind].parent or offers[kind]
    return served.gateway.known("ann").allowance(offer).nano


@pytest.mark.parametrize("kind", KINDS)
def test_each_release_is_charged_and_what_lasts_is_charged_once(served: Service, kind: str) -> None:
    values = []
    for k in range(3):
        values.append(served.ask(f"key-{k:05d}", kind).json["value"])
        served.ask(f"key-{k:05d}", kind)  # again: nothing more
    lasts = kind not in CHARGED
    account = spent(served.gateway)[Account("ann", CLUB)][0]
    assert account == cost(served, kind) * (1 if lasts else 3)
    assert (account == 0) is (kind == "profile")
    assert (values[0] == values[1] == values[2]) or not lasts


@pytest.mark.parametrize("kind", KINDS)
def test_a_token_is_good_for_its_scopes(served: Service, kind: str) -> None:
    other = next(name for name in KINDS if name != kind)
    assert served.ask("key-00001", kind, token=token(served.gateway, scopes=[other])).status == 403
    assert served.ask("key-00001", kind, token=token(served.gateway, scopes=[kind])).status == 200


def form(told: Any) -> Any:
    """A value without its numbers: names, types, and lengths of text."""
    if isinstance(told, dict):
        return {name: form(one) for name, one in told.items()}
    if isinstance(told, list):
        return [form(one) for one in told]
    return (type(told).__name__, len(told)) if isinstance(told, str) else type(told).__name__


NOTHING = {
    "not named": "version = 1\n",
    "used up": wishes(total="0.000000001"),
    "no item counts": wishes() + "[items]\ndefault = 0\n",
}
DRAWN = [kind for kind in KINDS if kind not in ("neighbours", "recommendations", "profile")]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, own: None) -> dict[str, dict[str, list[Any]]]:
    """By ann's file and by kind, all that a provider sees; coins are always the same."""
    folder, found = tmp_path_factory.mktemp("seen"), {}
    for name, text in {"full": wishes(), "void": wishes(), **NOTHING}.items():
        made = service(folder / f"{name}.db", seed=11, ann=text)
        if name == "void":
            fill(made.gateway, {"ann": somebody(())}, asks={CLUB: ASKS})
        told = {kind: [made.ask(f"{kind}-{k:05d}", kind) for k in range(3)] for kind in DRAWN}
        found[name] = {
            kind: [(one.status, one["content-type"], one.json) for one in those]
            for kind, those in told.items()
        }
        made.gateway.close()
    return found


@pytest.mark.parametrize("case", NOTHING)
@pytest.mark.parametrize("kind", DRAWN)
def test_who_allows_nothing_looks_like_who_has_nothing(seen: Any, kind: str, case: str) -> None:
    """With the same coins, covers are those of empty profiles to the byte."""
    first, other, empty = (seen[name][kind] for name in ("full", case, "void"))
    assert [form(one[2]) for one in first] == [form(one[2]) for one in other]
    if kind == "similarity":  # a cover is of two empty profiles, and bob's is none here
        assert {one[0] for one in (*first, *other, *empty)} == {200}
        return
    assert other == empty
    assert first != empty  # the control: with the same coins, items show


def test_a_draw_that_lasts_does_not_show_a_change_of_mind(served: Service) -> None:
    """A second sketch would tell more, and another one that something changed."""
    before = served.ask("key-00001", "sketches").json["value"]
    paid = spent(served.gateway)[Account("ann", CLUB)][0]
    gateway = served.gateway
    for k, text in enumerate((*NOTHING.values(), wishes(epsilon="0.1"))):
        gateway.set_preferences("ann", text, seen=gateway.person("ann").version)
        assert served.ask(f"key-1{k:04d}", "sketches").json["value"] == before
    fill(gateway, {"ann": somebody(("Ran",))}, asks={CLUB: ASKS})
    assert served.ask("key-20001", "sketches").json["value"] == before
    assert spent(gateway)[Account("ann", CLUB)][0] == paid
    anew = {**ASKS, "sketches": {**ASKS["sketches"], "epsilon": "1"}}  # other terms, in public
    fill(gateway, {}, asks={CLUB: anew})
    assert served.ask("key-30001", "sketches").json["value"] != before


def test_many_first_requests_at_once_are_one_draw_and_one_charge(served: Service) -> None:
    with ThreadPoolExecutor(8) as pool:
        told = list(
            pool.map(lambda k: ask(served.gateway, f"key-{k:05d}", kind="sketches"), range(24))
        )
    assert len({value(one) for one in told}) == 1
    assert spent(served.gateway)[Account("ann", CLUB)][0] == cost(served, "sketches")


def test_who_withdraws_at_the_last_moment_is_drawn_again(served: Service) -> None:
    gateway = served.gateway
    seen = gateway.person("ann").version
    sent = at_the_last_moment(
        gateway, lambda: gateway.set_preferences("ann", "version = 1\n", seen=seen)
    )
    assert served.ask("key-00001", "sketches").status == 200
    assert len(sent) == 3  # one draw that was stale, one that is kept, and the answer
    assert spent(gateway)[Account("ann", CLUB)][0] == 0


def test_a_draw_that_does_not_last_is_noticed(
    served: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: a gateway that draws a sketch for each request."""
    anew = replace(rt.Sketches.offering, lasts=Lasts.REQUEST)
    monkeypatch.setattr(rt.Sketches, "offering", anew)
    fill(served.gateway, {}, asks={CLUB: {"sketches": ASKS["sketches"]}})
    values = [served.ask(f"key-{k:05d}", "sketches").json["value"] for k in range(3)]
    assert len(set(values)) == 3
    assert spent(served.gateway)[Account("ann", CLUB)][0] == 3 * cost(served, "sketches")


def test_lists_are_read_off_what_the_service_got_and_name_nobody_else(served: Service) -> None:
    alone = served.ask("key-00001", "neighbours").json["value"]
    assert alone == []
    sketches = {
        name: served.ask(f"key-1{k:04d}", "sketches", name).json["value"]
        for k, name in enumerate(("ann", "bob", "cleo"))
    }
    before = spent(served.gateway)
    found = served.ask("key-20001", "neighbours").json["value"]
    items = served.ask("key-20002", "recommendations").json["value"]
    after = spent(served.gateway)
    assert {account: after[account][0] for account in before} == {
        account: amounts[0] for account, amounts in before.items()
    }
    query = rt.Sketches.of_request(ASKS["sketches"])
    public = Public(3, sorted(sketches), declared=True)
    answer = rt.queries.base.Answer(  # type: ignore[attr-defined]
        query,
        dict(sorted(sketches.items())),
        served.gateway.world().offers[CLUB]["sketches"].card,
        "0",
        terms=query.terms(public),
    )
    assert found == rt.Neighbours(k=3).release(answer).value["ann"]
    own = {"sketches": answer, "items": list(FILMS.items)}
    assert items == rt.Recommendations(n_items=2).release(own).value["ann"]
    assert {one["peer"] for one in found} == {"bob", "cleo"}  # nobody else was asked about


def test_a_list_is_deleted_with_those_it_names(tmp_path: Path) -> None:
    path, name = tmp_path / "gateway.db", "zwxq-the-person"
    served = service(path)
    fill(served.gateway, {name: somebody()}, asks={CLUB: ASKS})
    for k, one in enumerate(("ann", name)):
        served.ask(f"key-1{k:04d}", "sketches", one)
    assert served.ask("key-00001", "neighbours").json["value"][0]["peer"] == name
    assert name.encode() in file_bytes(path)
    served.gateway.forget(name)
    assert served.ask("key-00001", "neighbours").status == 409
    assert served.ask("key-00002", "neighbours").json["value"] == []
    served.gateway.close()
    assert name.encode() not in file_bytes(path)


# The same release in Python

TABLE = {
    "person": [name for name, items in PEOPLE.items() for _ in items],
    "item": [item for items in PEOPLE.values() for item in items],
}
COLUMNS = {"person": list(PEOPLE), "age": ["young"] * 4, "home": ["town"] * 4}
DATA: dict[str, Any] = {
    "histogram": {"profiles": TABLE, "catalogue": FILMS, "people": list(PEOPLE)},
    "profile": {"mapping": recoding(), "table": COLUMNS},
}
USUAL = {"profiles": TABLE, "people": list(PEOPLE), "items": list(FILMS.items)}
LOCAL = {"histogram": {"provider": CLUB}, "similarity": {"pair": ("ann", "bob")}}


def in_python(kind: str, source: Source) -> Any:
    query = offered()[kind].of_plain({**ASKS[kind], **LOCAL.get(kind, {})})
    return query.release(DATA.get(kind, USUAL), source=source)


@pytest.mark.parametrize("kind", [*DRAWN, "profile"])
def test_the_same_release_in_python_has_the_same_value_and_promise(
    tmp_path: Path, kind: str
) -> None:
    made = service(tmp_path / "gateway.db", seed=5)
    told = made.ask("key-00001", kind).json
    made.gateway.close()
    answer = in_python(kind, Source.seeded(5).child("key-00001"))
    pair = offered()[kind].shape is Shape.PER_PAIR
    assert told["value"] == (answer.value if pair else answer.value["ann"])
    own = json.loads(answer.card.to_json())
    for part in ("promise", "scope", "how", "evidence"):
        assert told["card"][part] == own[part], part
    assert told["card"]["words"] == own["words"]
    other = in_python(kind, Source.seeded(6).child("key-00001"))  # the control: other coins
    assert kind == "profile" or other.value != answer.value


@pytest.mark.parametrize("kind", KINDS)
def test_a_provider_reads_no_budget(served: Service, kind: str) -> None:
    budget = served.ask("key-00001", kind).json["card"]["budget"]
    assert budget == {
        "spent": "private",
        "limit": "private",
        "renews": "private",
        "rule": "losses add",
    }


def test_only_owners_copies_state_a_budget() -> None:
    from reticent.guarantees.card import Audience, Budget

    offer = offers_of(CLUB, read_asks(ASKS), FILMS, recoding())["coverage"]
    held = Budget(spent="0.5", limit="2")
    copies = {one: offer.card.copy_for(one, held) for one in Audience}
    assert copies[Audience.PROVIDER] == offer.card
    assert copies[Audience.PERSON].budget == copies[Audience.OPERATOR].budget == held
    assert all(not copy.problems() for copy in copies.values())
    made = offers_of(CLUB, read_asks(ASKS), FILMS, recoding())
    assert not [kind for kind, one in made.items() if recomputed(one.card) and kind != "profile"]
    assert all(copy.scope == offer.card.scope for copy in copies.values())


def test_a_person_reads_their_budget_on_their_copy(served: Service) -> None:
    key = credentials.secret()
    served.gateway.write(lambda c: credentials.add_door(c, key, role="person", person="ann"))
    cookie = f"reticent={served.gateway.enter(key)}"
    for kind in KINDS:
        served.ask("key-00001" + kind, kind)
        told = call(served.app, "GET", f"/me/who/{CLUB}/terms/{kind}", headers=[("cookie", cookie)])
        text = told.body.decode()
        assert told.status == 200
        paid = re.search(r"Spent so far</th><td><p>ε [0-9.]+ of 1000 ", text)
        assert paid or kind == "profile"  # what is counted in bits has no such line
        assert offered()[kind].offering.of(offered()[kind]).title in text
    page = call(served.app, "GET", "/me/left", headers=[("cookie", cookie)]).body.decode()
    for kind in KINDS:
        assert f"{offered()[kind].offering.of(offered()[kind]).title} to {CLUB}" in page
    assert "bob" not in page  # whom a list names, or who was compared, is not shown


# A query of one's own


def test_weights_stretch_what_follows_them_and_drop_what_does_not() -> None:
    half = Preferences.parse(wishes(epsilon="0.5") + "[items]\nHeat = 0.5\n")
    offers = offers_of(CLUB, read_asks(ASKS), FILMS, recoding())
    graded = offers["coverage"].terms.allowance(half, CLUB, FILMS.places)
    whole = offers["tally"].terms.allowance(half, CLUB, FILMS.places)
    assert (graded.nano, whole.nano) == (500_000_000, 0)  # half of epsilon 1, or nothing
    assert graded.weights[FILMS.places["Heat"]] * 2 == graded.weights[FILMS.places["Up"]]
    assert not whole.weights.any()
    full = Preferences.parse(wishes() + "[items]\nHeat = 0.5\n")
    allowed = offers["tally"].terms.allowance(full, CLUB, FILMS.places)
    assert allowed.nano == 1_000_000_000
    held = allowed.weights > 0
    assert not held[FILMS.places["Heat"]]  # it would lose more than its weight allows
    assert held[FILMS.places["Up"]]


def test_a_query_that_is_no_map_over_items_is_refused_as_terms() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Wrong(Tally):
        """Its loss is about a person."""

        kind = "wrong"

        def terms(self, public: Public) -> Any:
            from reticent.guarantees import PERSON

            return TallyTerms(self, public, DiscreteLaplace(epsilon=1, size=1, unit=PERSON))

    with pytest.raises(rt.ReticentError, match="map over people's items"):
        Wrong(epsilon=1).on_terms(CLUB, {"items": FILMS.items, "people": ["a person"]})


def test_the_description_is_made_from_the_declarations(served: Service) -> None:
    told = call(served.app, "GET", "/v1/openapi.json").json
    for kind, query in offered().items():
        operation = told["paths"][f"/v1/{kind}"]["post"]
        assert operation["operationId"] == kind
        assert operation["description"].startswith(query.about())
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        two = query.shape is Shape.PER_PAIR
        assert body["required"] == (["subject", "other"] if two else ["subject"])
        answer = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
        schema = told["components"]["schemas"][answer.rpartition("/")[2]]
        stated = {**query.offering.value}
        assert stated.items() <= schema["properties"]["value"].items()


def test_what_lasts_is_declared() -> None:
    lasting = {kind for kind, one in offered().items() if one.offering.lasts is not Lasts.REQUEST}
    assert lasting == {"sketches", "profile"}
