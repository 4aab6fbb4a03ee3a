"""The gateway: one key one answer, budgets that hold and do not show, profiles, forgetting."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from reticent.amounts import NANO
from reticent.errors import ReticentError
from reticent.gateway import Asked, Gateway, NoSuchPerson, NotOffered, directory
from reticent.ledger import Account, KeyReused
from tests.unit.gateway.seeded import (
    ADS,
    ASKS,
    CLUB,
    FILMS,
    ask,
    checked,
    file_bytes,
    fill,
    lines,
    opened,
    recoding,
    somebody,
    spent,
    value,
    wishes,
)

ANN = Account("ann", CLUB)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gateway.db"


@pytest.fixture
def gateway(path: Path) -> Iterator[Gateway]:
    with opened(path) as made:
        people = {
            "ann": somebody(),
            "bob": somebody(["Up", "Ran"]),
            "empty": somebody([]),
        }
        fill(made, people)
        yield made
        assert checked(made).problems == ()


def prefer(gateway: Gateway, text: str, name: str = "ann") -> None:
    gateway.set_preferences(name, text, seen=gateway.person(name).version)


def full_loss(gateway: Gateway, kind: str = "histogram") -> int:
    """What a release on the terms in full costs."""
    return gateway.known("ann").allowance(gateway.world().offers[CLUB][kind]).nano


# One key, one answer


def test_a_key_gets_the_same_bytes_whatever_changed(gateway: Gateway) -> None:
    first = {kind: ask(gateway, f"key-{kind}", kind=kind) for kind in ("histogram", "profile")}
    first["similarity"] = ask(gateway, "key-similarity", kind="similarity", other="bob")

    def again() -> dict[str, bytes]:
        made = {kind: ask(gateway, f"key-{kind}", kind=kind) for kind in ("histogram", "profile")}
        made["similarity"] = ask(gateway, "key-similarity", kind="similarity", other="bob")
        return made

    before = spent(gateway)
    assert again() == first
    prefer(gateway, "version = 1\n")
    assert again() == first
    prefer(gateway, wishes(total=0.000001))
    assert again() == first
    gateway.write(lambda c: directory.add_person(c, "ann", items=["Ran"]))
    assert again() == first
    changed = {**ASKS[CLUB], "histogram": {"epsilon": "0.1", "attributes": {"default": "0.1"}}}
    fill(gateway, {}, asks={**ASKS, CLUB: changed})
    assert again() == first
    fill(gateway, {}, asks={**ASKS, CLUB: {}})  # nothing is asked for any more
    assert again() == first
    assert spent(gateway) == before
    with pytest.raises(NotOffered):
        ask(gateway, "key-new")


def test_new_terms_draw_anew_and_old_answers_keep_their_card(gateway: Gateway) -> None:
    old = json.loads(ask(gateway, "key-1"))
    changed = {"histogram": {"epsilon": "0.1", "attributes": {"default": "0.1"}}}
    fill(gateway, {}, asks={CLUB: changed})
    new = json.loads(ask(gateway, "key-2"))
    assert old["terms"] != new["terms"]
    assert old["card"] != new["card"]
    gateway._cards.clear()
    assert json.loads(ask(gateway, "key-1"))["card"] == old["card"]


def test_another_gateway_on_the_file_sees_new_terms_and_preferences(
    gateway: Gateway, path: Path
) -> None:
    with opened(path) as other:
        first = ask(other, "key-1")
        fill(
            gateway,
            {},
            asks={CLUB: {"histogram": {"epsilon": "2", "attributes": {"default": "1"}}}},
        )
        assert json.loads(ask(other, "key-2"))["terms"] != json.loads(first)["terms"]
        prefer(gateway, "version = 1\n")
        before = spent(other)[ANN]
        ask(other, "key-3")
        assert spent(other)[ANN] == before  # nothing of ann: no charge
        assert ask(other, "key-1") == first


@pytest.mark.parametrize(
    "other",
    [
        Asked("histogram", "bob", "key-1"),
        Asked("profile", "ann", "key-1"),
        Asked("similarity", "ann", "key-1", "bob"),
        Asked("similarity", "bob", "key-1", "ann"),
    ],
)
def test_another_request_under_the_key_is_refused(gateway: Gateway, other: Asked) -> None:
    first = ask(gateway, "key-1")
    before = spent(gateway)
    with pytest.raises(KeyReused):
        gateway.submit(CLUB, other).result()
    assert spent(gateway) == before
    assert ask(gateway, "key-1") == first


def test_another_tenants_key_is_another_key(gateway: Gateway) -> None:
    both = wishes() + f'[providers."{ADS}"]\nepsilon = 4\n'
    prefer(gateway, both)
    mine, theirs = ask(gateway, "key-1"), ask(gateway, "key-1", provider=ADS)
    assert mine != theirs
    assert gateway.answered(CLUB, "key-1") != gateway.answered(ADS, "key-1")
    assert gateway.answered(ADS, "key-2") is None
    ask(gateway, "key-2")
    assert gateway.answered(ADS, "key-2") is None


# Budgets


def test_what_is_used_up_is_noise_and_costs_nothing(path: Path) -> None:
    """With the same coins: after the end, answers are those about somebody without items."""
    found = {}
    for name in ("ann", "empty"):
        own = path.with_name(f"{name}.db")
        with opened(own, seed=5) as gateway:
            people = {"who": somebody(["Heat"] if name == "ann" else [])}
            fill(gateway, people)
            offer = gateway.world().offers[CLUB]["histogram"]
            loss = gateway.known("who").allowance(offer).nano
            text = wishes(total=f"{2 * loss / NANO:.9f}")
            prefer(gateway, text, "who")
            found[name] = [ask(gateway, f"key-{k}", "who") for k in range(5)]
            account = spent(gateway)[Account("who", CLUB)]
            assert account == (2 * loss, 2 * loss)
            assert checked(gateway).problems == ()
    assert found["ann"][2:] == found["empty"][2:]
    assert found["ann"][0] != found["empty"][0]  # the control: before the end they differ
    assert found["ann"][1] != found["empty"][1]


def test_two_hundred_at_the_last_unit(gateway: Gateway) -> None:
    loss = full_loss(gateway)
    prefer(gateway, wishes(total=f"{1.5 * loss / NANO:.9f}"))
    limit = int(1.5 * loss)
    with ThreadPoolExecutor(32) as pool:
        told = list(pool.map(lambda k: ask(gateway, f"key-{k}"), range(200)))
    assert len(set(told)) == 200
    now, most = spent(gateway)[ANN]
    assert now == loss <= most == limit
    charged = [json.loads(body)["charges"][0][1] for _, body in lines(gateway, "spend")]
    assert Counter(charged) == {loss: 1, 0: 199}


def test_a_naive_check_would_overspend() -> None:
    """The control of the test above: look first, charge later."""
    state, limit, loss, looked = {"spent": 0}, 3, 2, Barrier(8)

    def naive(_: int) -> None:
        fits = state["spent"] + loss <= limit
        looked.wait()
        if fits:
            state["spent"] += loss

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(naive, range(8)))
    assert state["spent"] > limit


def test_a_budget_renews_with_its_period(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    loss = full_loss(gateway)
    prefer(gateway, wishes(total=f"{loss / NANO:.9f}", renews="daily"))
    now = int(time.time())
    for day in range(3):
        monkeypatch.setattr(time, "time", lambda day=day: now + 86_400 * day)
        for k in range(3):
            ask(gateway, f"key-{day}-{k}")
    monkeypatch.setattr(time, "time", lambda: now)  # a clock set back opens nothing again
    ask(gateway, "key-back")
    accounts = {a.period: told for a, told in spent(gateway).items() if a.period}
    assert len(accounts) == 3
    assert set(accounts.values()) == {(loss, loss)}


def test_a_person_lowers_and_raises_their_total(gateway: Gateway) -> None:
    loss = full_loss(gateway)

    def amount(times: float) -> str:
        return wishes(total=f"{times * loss / NANO:.9f}")

    prefer(gateway, amount(10))
    ask(gateway, "key-1")
    assert spent(gateway)[ANN] == (loss, 10 * loss)
    prefer(gateway, amount(1))
    ask(gateway, "key-2")
    assert spent(gateway)[ANN] == (loss, loss)
    prefer(gateway, amount(3))
    assert spent(gateway)[ANN] == (loss, 3 * loss)
    for k in range(4):
        ask(gateway, f"key-3-{k}")
    assert spent(gateway)[ANN] == (3 * loss, 3 * loss)
    prefer(gateway, amount(0.5))  # below what is spent: nothing is left
    ask(gateway, "key-4")
    assert spent(gateway)[ANN] == (3 * loss, 3 * loss)
    changes = [json.loads(body) for _, body in lines(gateway, "limit")]
    assert [(one["from"] // loss, one["to"] // loss) for one in changes] == [(10, 1), (1, 3)]


def test_a_total_that_was_never_lowered_by_a_charge_is_not_lost(gateway: Gateway) -> None:
    prefer(gateway, wishes(total=1))
    prefer(gateway, wishes(total=2))
    ask(gateway, "key-1")
    assert spent(gateway)[ANN][1] == 2 * NANO


def test_a_provider_taken_out_and_named_again_gets_the_new_total(gateway: Gateway) -> None:
    loss = full_loss(gateway)
    prefer(gateway, wishes(total=f"{loss / NANO:.9f}"))
    ask(gateway, "key-1")
    ask(gateway, "key-2")
    prefer(gateway, "version = 1\n")
    ask(gateway, "key-3")
    prefer(gateway, wishes(total=f"{2 * loss / NANO:.9f}"))
    ask(gateway, "key-4")
    assert spent(gateway)[ANN] == (2 * loss, 2 * loss)


def test_an_unrelated_change_raises_nothing(gateway: Gateway) -> None:
    """A limit that somebody else lowered stays where it is."""
    prefer(gateway, wishes(total=5))
    ask(gateway, "key-1")
    gateway.ledger.raise_limit(ANN, 2 * NANO)  # it sets any limit: here a lower one
    prefer(gateway, wishes(total=5, epsilon=3))
    assert spent(gateway)[ANN][1] == 2 * NANO


def test_no_total_is_no_end(gateway: Gateway) -> None:
    prefer(gateway, wishes(total=None))
    for k in range(20):
        ask(gateway, f"key-{k}")
    assert spent(gateway)[ANN][0] == 20 * full_loss(gateway)


def test_a_charge_is_what_is_allowed_and_no_more(gateway: Gateway) -> None:
    prefer(gateway, wishes(epsilon="0.1"))
    ask(gateway, "key-1")
    assert 0 < spent(gateway)[ANN][0] <= NANO // 10


# Nothing of somebody


def nothing_of(path: Path, text: str, kinds: tuple[str, ...] = ("histogram",)) -> bool:
    """Whether answers about somebody with these wishes are those about nobody's items."""
    found = []
    for number, items in enumerate((("Heat", "Brazil", "Alien"), ())):
        with opened(path.with_name(f"{number}.db"), seed=9) as gateway:
            fill(gateway, {"who": somebody(items, preferences=text)})
            found.append([ask(gateway, f"key-{k}", "who") for k in range(10)])
            charges = {told[0] for told in spent(gateway).values()}
            nothing = charges == {0}
    return found[0] == found[1] and nothing


def test_a_provider_that_is_not_named_gets_nothing(path: Path) -> None:
    assert nothing_of(path, "version = 1\nattributes.default = 4\n")


def test_withheld_attributes_are_nothing(path: Path) -> None:
    assert nothing_of(path, wishes(default='"withhold"'))


def test_what_allows_everything_is_something(path: Path) -> None:
    assert not nothing_of(path, wishes())  # the control


def test_stop_means_nothing_of_them(path: Path) -> None:
    found = []
    for number, items in enumerate((("Heat", "Brazil", "Alien"), ())):
        with opened(path.with_name(f"{number}.db"), seed=3) as gateway:
            fill(gateway, {"ann": somebody(items)})
            before = ask(gateway, "key-1")
            charged = spent(gateway)[ANN][0]
            prefer(gateway, "version = 1\n")
            found.append((before, [ask(gateway, f"key-after-{k}") for k in range(10)]))
            assert spent(gateway)[ANN][0] == charged
    assert found[0][1] == found[1][1]
    assert found[0][0] != found[1][0]  # the control


@pytest.mark.parametrize(
    "items",
    [
        ["NaN", "inf", "-0.0", "1e308", "", "null", "None"],
        ["x" * 10**6],
        ["\x00", "\x1b[2J", "\u202e", "a\nb", "😀"],
        ["'; DROP TABLE spend; --", "<script>"],
        [f"unknown {k}" for k in range(10**5)],
    ],
    ids=["numbers", "long", "control", "sql", "many"],
)
def test_items_that_nobody_knows_do_nothing(path: Path, items: list[str]) -> None:
    """A9: whatever stands in a profile, the answers are those without it."""
    found = []
    for number, more in enumerate((items, [])):
        with opened(path.with_name(f"{number}.db"), seed=4) as gateway:
            text = wishes(more='[providers."x.example"]\nepsilon = 1')
            odd = {"age": "x" * 10**5 if more else "", "home": "\x00", "more": "NaN"}
            fill(gateway, {"ann": somebody(more, columns=odd, preferences=text), "bob": somebody()})
            told = [ask(gateway, f"key-{k}") for k in range(3)]
            told += [ask(gateway, f"key-s-{k}", kind="similarity", other="bob") for k in range(3)]
            found.append((told, spent(gateway), len(lines(gateway))))
            assert set(value(ask(gateway, "key-p", kind="profile"))) == {"age", "home"}
    assert found[0] == found[1]


def test_lone_surrogates_are_refused_whole_when_they_come_in(gateway: Gateway) -> None:
    with pytest.raises(Exception, match="surrogates|encode"):
        gateway.write(lambda c: directory.add_person(c, "odd", items=["Heat", "\ud800"]))
    with pytest.raises(NoSuchPerson):
        gateway.known("odd")


def test_nothing_raised_depends_on_what_is_private(gateway: Gateway) -> None:
    """The same errors, word by word, whatever people are there."""

    def told(work: Any) -> tuple[type, str]:
        with pytest.raises(ReticentError) as error:
            work()
        return error.type, str(error.value)

    def all_of_them() -> list[tuple[type, str]]:
        return [
            told(lambda: ask(gateway, "key-x", "nobody")),
            told(lambda: ask(gateway, "key-x", "ann", kind="similarity", other="nobody")),
            told(
                lambda: ask(gateway, "key-x", "ann", kind="similarity", provider=ADS, other="bob")
            ),
            told(lambda: ask(gateway, "key-0", "bob")),
        ]

    ask(gateway, "key-0")
    before = all_of_them()
    prefer(gateway, "version = 1\n")
    prefer(gateway, wishes(total="0.000000001"), "bob")
    gateway.write(lambda c: directory.add_person(c, "ann", items=["\x00"] * 3))
    assert all_of_them() == before
    assert {kind for kind, _ in before} == {NoSuchPerson, NotOffered, KeyReused}


# Two people


def test_a_comparison_charges_both(gateway: Gateway) -> None:
    ask(gateway, "key-1", kind="similarity", other="bob")
    assert spent(gateway) == {
        Account(name, CLUB): (full_loss(gateway, "similarity"), 1000 * NANO)
        for name in ("ann", "bob")
    }


@pytest.mark.parametrize("short", ["ann", "bob"])
def test_nobody_sees_on_their_account_that_the_other_has_nothing_left(
    gateway: Gateway, short: str
) -> None:
    loss = full_loss(gateway, "similarity")
    prefer(gateway, wishes(total="0.000000001"), short)
    for k in range(5):
        ask(gateway, f"key-{k}", kind="similarity", other="bob")
    found = {account.subject: told[0] for account, told in spent(gateway).items()}
    assert found == {"ann": 5 * loss, "bob": 5 * loss, short: 0}


def test_a_comparison_with_who_allows_nothing_still_costs_the_other(gateway: Gateway) -> None:
    prefer(gateway, "version = 1\n", "bob")
    ask(gateway, "key-1", kind="similarity", other="bob")
    found = {a.subject: told[0] for a, told in spent(gateway).items()}
    assert found == {"ann": full_loss(gateway, "similarity"), "bob": 0}


# Profiles


def test_a_profile_is_drawn_once_and_repeated_to_all(gateway: Gateway) -> None:
    both = wishes() + f'[providers."{ADS}"]\nepsilon = 1\n'
    prefer(gateway, both)
    told = [
        value(ask(gateway, f"key-{k}", kind="profile", provider=provider))
        for k in range(30)
        for provider in (CLUB, ADS)
    ]
    assert all(one == told[0] for one in told)
    assert {told[0] for told in spent(gateway).values()} == {0}


def drawn(path: Path, text: str, people: int = 150) -> Counter[tuple[str, str]]:
    """First draws of many people who are all young and live in town."""
    with opened(path) as gateway, ThreadPoolExecutor(16) as pool:
        fill(gateway, {f"p{k}": somebody([], preferences=text) for k in range(people)})
        told = pool.map(lambda k: ask(gateway, f"key-{k}", f"p{k}", kind="profile"), range(people))
        found = [value(one) for one in told]
    return Counter((one["age"], one["home"]) for one in found)


def law(own: bool) -> dict[tuple[str, str], float]:
    """Of a draw: for the person's profile, or of what is released in all."""
    made = recoding()
    mechanism = made.mechanism
    profiles = [tuple(row) for row in made.profiles.tolist()]
    chances = mechanism.cover / mechanism.cover.sum()
    if own:
        j = profiles.index(("young", "town"))
        row = slice(mechanism.starts[j], mechanism.starts[j + 1])
        chances = np.zeros(len(profiles))
        chances[mechanism.outs[row]] = mechanism.channel.chances[row]
    return dict(zip(profiles, chances.tolist(), strict=True))


def fits(found: Counter[tuple[str, str]], chances: dict[tuple[str, str], float]) -> bool:
    known = [profile for profile, chance in chances.items() if chance > 1e-12]
    if set(found) - set(known):
        return False
    counted = [found[profile] for profile in known]
    expected = [found.total() * chances[profile] for profile in known]
    return bool(chisquare(counted, expected, sum_check=False).pvalue > 1e-6)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (wishes(), True),
        (wishes(more="[hide]\nincome = { leak_bits = 0.06 }"), True),
        (wishes(more="[hide]\nincome = { leak_bits = 0.01 }"), False),
        (wishes(more="[hide]\nunknown = { leak_bits = 9 }"), False),
        (wishes(more="[hide]\nhome = { leak_bits = 9 }"), False),
        ("version = 1\n", False),
        (wishes(provider=ADS), False),
    ],
    ids=["named", "hidden well", "hidden badly", "no such secret", "a column", "nobody", "other"],
)
def test_who_does_not_permit_a_profile_is_anybody(path: Path, text: str, own: bool) -> None:
    """Theorem 4: the law of the answers, and the other law as the control."""
    found = drawn(path, text)
    assert fits(found, law(own))
    assert not fits(found, law(not own))


def test_a_provider_named_like_the_draw_for_everybody_gets_no_more(path: Path) -> None:
    """Whose draw it is stands in its key; no name of a provider may be taken for everybody's."""
    asks = {CLUB: {"profile": {}}, "everybody": {"profile": {}}}
    different = 0
    with opened(path, seed=2) as gateway:
        fill(gateway, {f"p{k}": somebody([]) for k in range(40)}, asks=asks)
        for k in range(40):
            own = value(ask(gateway, f"key-{k}", f"p{k}", kind="profile"))
            told = value(ask(gateway, f"key-{k}", f"p{k}", kind="profile", provider="everybody"))
            different += own != told
    assert different > 10


def test_a_draw_stays_when_the_profile_changes(gateway: Gateway) -> None:
    before = value(ask(gateway, "key-1", kind="profile"))
    gateway.write(lambda c: directory.add_person(c, "ann", columns={"age": "old", "home": "land"}))
    assert value(ask(gateway, "key-2", kind="profile")) == before


# Forgetting


def test_who_is_forgotten_is_nowhere_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "gateway.db"
    name, item, note = "zwxq-the-person", "zwxq-an-item", "zwxq-a-comment"
    column = "zwxq-a-value"
    with opened(path) as gateway:
        text = wishes() + f"# {note}\n"
        columns = {"age": column, "home": "town"}
        person = somebody(["Heat", item], preferences=text, columns=columns)
        fill(gateway, {name: person, "bob": somebody()})
        ask(gateway, "key-1", name)
        ask(gateway, "key-2", name, kind="profile")
        ask(gateway, "key-3", name, kind="similarity", other="bob")
        ask(gateway, "key-4", "bob", kind="similarity", other=name)
        ask(gateway, "key-5", "bob")
        before = file_bytes(path)
        for told in (name, item, note, column):
            assert told.encode() in before  # the control: it would be seen
        assert gateway.forget(name)
        assert not gateway.forget(name)
        for k in range(1, 5):
            assert gateway.answered(CLUB, f"key-{k}") is None
        assert gateway.answered(CLUB, "key-5") is not None
        with pytest.raises(NoSuchPerson):
            ask(gateway, "key-1", name)
        assert gateway.left(name) == []
        after = file_bytes(path)
        assert checked(gateway).problems == ()
    for found in (after, file_bytes(path)):
        for told in (name, item, note, column, "zwxq"):
            assert told.encode() not in found


def test_a_key_whose_answer_was_deleted_is_used(gateway: Gateway) -> None:
    """For good: to say "ask again" would have a provider ask for ever."""
    ask(gateway, "key-1")
    gateway.forget("ann")
    with pytest.raises(KeyReused):
        ask(gateway, "key-1", "bob")
    gateway.write(lambda c: directory.add_person(c, "ann", items=["Ran"]))
    with pytest.raises(KeyReused):
        ask(gateway, "key-1")


def test_who_comes_back_is_drawn_anew_on_new_accounts(gateway: Gateway) -> None:
    seen = set()
    for k in range(40):
        seen.add(json.dumps(value(ask(gateway, f"key-{k}", kind="profile"))))
        gateway.forget("ann")
        assert Account("ann", CLUB) not in spent(gateway)
        fill(gateway, {"ann": somebody()})
    assert len(seen) == 2  # the two profiles that somebody young in town may be told to be


# The world


def test_the_world_is_loaded_when_it_changes_only(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = gateway.world()
    assert gateway.world() is first
    ask(gateway, "key-1")
    assert gateway.world() is first
    fill(gateway, {})
    second = gateway.world()
    assert second is not first
    assert second.offers[CLUB]["histogram"].id == first.offers[CLUB]["histogram"].id


def test_an_empty_gateway_says_what_is_missing(tmp_path: Path) -> None:
    with opened(tmp_path / "empty.db") as gateway, pytest.raises(Exception, match="gateway init"):
        gateway.world()


def test_answers_are_floats_on_the_grid_and_of_every_attribute(gateway: Gateway) -> None:
    told = json.loads(ask(gateway, "key-1"))
    assert list(told["value"]) == list(FILMS.attributes)
    assert list(told) == ["schema", "kind", "subject", "key", "terms", "value", "card"]


def test_what_left_is_told_to_the_person(gateway: Gateway) -> None:
    ask(gateway, "key-1")
    ask(gateway, "key-2", kind="profile")
    found = gateway.left("ann")
    assert [(one.provider, one.key) for one in found] == [(CLUB, "key-2"), (CLUB, "key-1")]
    assert gateway.left("bob") == []
    assert gateway.left("ann", provider=ADS) == []
