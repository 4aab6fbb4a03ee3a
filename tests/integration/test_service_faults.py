"""The service is killed, in short: it holds, the control is caught, and the judge is not blind."""

import json

import pytest

from benchmarks.fault_http import BROKEN, hurt
from benchmarks.fault_http_judge import judge
from benchmarks.fault_http_work import Told, Wanted, digest, wanted
from benchmarks.service_client import Reply
from benchmarks.service_world import PROVIDERS, database, settle_with
from benchmarks.service_world import named as granting
from reticent.gateway import Asked, Gateway
from reticent.gateway.answers import charge_of
from reticent.ledger import Request

pytestmark = pytest.mark.faults

CLUB = PROVIDERS[0]


def test_the_server_is_killed() -> None:
    told, found, changed = hurt("ours", kills=5, seconds=0, pause=0.3, store="sqlite", people=60)
    assert found.keys >= 20
    assert found.violations == 0, found
    assert (told.confused, told.unexpected, changed) == (0, 0, 0)


def test_a_server_that_forgets_is_caught() -> None:
    _, found, _ = hurt("naive", kills=2, seconds=0, pause=0.7, store="sqlite", people=60)
    assert found.double > 0


@pytest.fixture
def gateway():
    files = {"ann": granting("total = 0.5\n"), "bob": "version = 1\n"}
    with database() as address:
        settle_with(address, files)
        with Gateway.open(address) as opened:
            yield opened


def ask(gateway: Gateway, *keys: str, subject: str = "ann") -> Told:
    """What a client hears who asks under these keys."""
    told = Told()
    for key in keys:
        kept = gateway.submit(CLUB, Asked("histogram", subject, key)).result().value
        told.add(_want(key, subject), Reply(200, b"", gateway.finish(kept)))
    return told


def _want(key: str, subject: str = "ann") -> Wanted:
    return Wanted(CLUB, key, "histogram", subject, None)


def test_a_sound_run_is_judged_sound(gateway) -> None:
    told = ask(gateway, *(f"key-{number:05d}" for number in range(6)))  # room for two
    told.answers |= ask(gateway, "key-of-bob", subject="bob").answers
    found = judge(gateway, told)
    assert (found.keys, found.violations) == (7, 0)


def test_two_answers_for_a_key(gateway) -> None:
    told = ask(gateway, "key-00001")
    told.answers[CLUB, "key-00001"].add(digest(b"another"))
    assert judge(gateway, told).double == 1


def test_an_answer_that_is_not_kept(gateway) -> None:
    told = ask(gateway, "key-00001")
    told.answers[CLUB, "key-00002"].add(digest(b"never kept"))
    told.answers[CLUB, "key-00001"] = {digest(b"not the one that was kept")}
    assert judge(gateway, told).lost == 2


def test_an_answer_that_nobody_heard(gateway) -> None:
    ask(gateway, "key-00001")
    assert judge(gateway, Told()).unanswered == 1
    assert judge(gateway, Told(given_up=3)).unanswered == 4


def test_an_answer_that_was_not_paid_for(gateway) -> None:
    known, offer = gateway.known("ann"), gateway.world().offers[CLUB]["histogram"]
    told = ask(gateway, "key-00001")
    value = gateway.answered(CLUB, "key-00001").replace(b"key-00001", b"key-00002")
    free = Request(
        principal=CLUB,
        key="key-00002",
        body=b"",
        event=offer.event,
        charges=(charge_of(known.person, CLUB, 0),),
    )
    gateway.ledger.once_with(free, value)
    told.answers[CLUB, "key-00002"].add(digest(gateway.finish(value)))
    found = judge(gateway, told)
    assert (found.miscounted, found.violations) == (1, 1)


def test_more_than_the_owner_allows(gateway) -> None:
    told = ask(gateway, "key-00001", "key-00002")
    seen = gateway.person("ann").version
    gateway.set_preferences("ann", granting("total = 0.3\n"), seen=seen)
    assert judge(gateway, told).overspent == 1


def test_an_answer_to_something_else() -> None:
    told = Told()
    body = json.dumps({"kind": "histogram", "subject": "bob"}).encode()
    told.add(_want("key-00001"), Reply(200, b"", body))
    told.statuses[500] += 1
    assert (told.confused, told.unexpected) == (1, 1)


def test_a_number_asks_for_the_same_thing_always() -> None:
    assert wanted(7, 100) == wanted(7, 100)
    assert wanted(6, 100).key == wanted(7, 100).key
    assert wanted(6, 100).provider != wanted(7, 100).provider
    assert wanted(1_000_010, 100, under=7).place == wanted(7, 100).place


def test_all_that_must_not_be_fails_the_run() -> None:
    assert {"overspent", "lost", "double", "miscounted", "unanswered", "problems"} <= set(BROKEN)
