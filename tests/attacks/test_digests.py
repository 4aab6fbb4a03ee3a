"""Guessing from digests: a card or a published folder must confirm no guess at private values.

The attacker knows everything but the secret, which has few possibilities: they make every digest
of every possibility and look for it. The control plants the digest of the true value.
"""

import hashlib
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import reticent as rt
from reticent.data.catalogue import Catalogue
from reticent.errors import CardError
from reticent.exports.registry import registry_entry
from reticent.guarantees import canonical
from reticent.guarantees.card import Card
from reticent.guarantees.card_views import card_html, card_text
from reticent.ledger import open_ledger
from reticent.preferences import Preferences
from reticent.running import run
from reticent.running.seals import Seal
from reticent.tasks.histogram_arrow import HistogramBatches

CLINIC = Catalogue.of(
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]],
    attributes=("Crime", "Drama", "HIV"),
    items=tuple("abcd"),
)
WISHES = Preferences.parse("""
version = 1
attributes = {Drama = 1, Crime = 1, HIV = 1}
providers = {"clinic" = {epsilon = 2}}
""")


def digests(text: str) -> set[str]:
    """Every digest that somebody may have taken, as far as it is read."""
    data = text.encode("utf-8", "surrogatepass")
    return {getattr(hashlib, name)(data).hexdigest()[:32] for name in ("sha256", "sha1", "md5")}


def confirmed(shown: str, guesses) -> list:
    """The guesses of which a digest is seen."""
    return [
        guess
        for guess in guesses
        if any(digest in shown for written in forms(guess) for digest in digests(written))
    ]


def forms(guess) -> list[str]:
    """How a value may have been written."""
    return [canonical(guess), json.dumps(guess), repr(guess)]


def asked_of(items: list[str], wishes: Preferences, provider: str) -> rt.Answer:
    table = {"profiles": {"person": ["ann"] * len(items), "item": items}, "catalogue": CLINIC}
    return rt.Histogram(provider=provider, person="ann").release(table, preferences=wishes)


def test_no_card_confirms_a_released_value() -> None:
    released = asked_of(["a", "c"], WISHES, "clinic")
    card = released.card
    value = list(released.value["ann"].values())
    entry = registry_entry(card).to_yaml()
    shown = "".join((card.to_json(), card_text(card), card_html(card), entry))
    others = ([float(x) for x in guess] for guess in itertools.product(range(-2, 4), repeat=3))
    guesses = [value, *others]
    assert confirmed(shown, guesses) == []
    planted = shown + hashlib.sha256(canonical(value).encode()).hexdigest()
    assert confirmed(planted, guesses) == [value], "the control was not found"


def test_no_card_confirms_a_wish() -> None:
    """Budgets that set no noise are on no card; neither is a digest of them."""
    shown = set()
    for crime in ("2", "3"):  # both above the provider's epsilon: the noise is the same
        wishes = Preferences.parse(
            f'version = 1\nattributes = {{Crime = {crime}}}\nproviders = {{"p" = {{epsilon = 1}}}}'
        )
        made = asked_of(["a"], wishes, "p")
        shown.add(made.card.to_json())
        assert made.terms.grant.fingerprint not in made.card.to_json()
    assert len(shown) == 1


def test_a_card_with_such_a_digest_is_refused_with_the_reason() -> None:
    held = json.loads(asked_of(["a"], WISHES, "clinic").card.to_json())
    held["provenance"]["output_sha256"] = "ab" * 32
    with pytest.raises(CardError, match="the value can be guessed"):
        Card.from_json(json.dumps(held))


COUNT = 12
ITEMS = tuple(f"film {k}" for k in range(COUNT))
FILMS = Catalogue.of([[k % 2, 1] for k in range(COUNT)], attributes=("Crime", "Drama"), items=ITEMS)


def asked(hidden) -> Preferences:
    lines = "".join(f'"{item}" = 0\n' for item in hidden)
    head, tail = "version = 1\n[items]\n", "[attributes]\ndefault = 0.5\n[providers.p]\nepsilon = 1"
    return Preferences.parse(head + lines + tail)


def published(folder: Path) -> str:
    """All that can be read in a published folder: names, texts, and texts inside files."""
    found = [path.name for path in folder.rglob("*")]
    found += [path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file()]
    return "\n".join(found)


def recovered(shown: str, under=lambda told: told) -> list[tuple[str, ...]]:
    """The pairs of hidden items that a fingerprint in the folder confirms."""
    return [
        pair
        for pair in itertools.combinations(ITEMS, 2)
        if any(
            under(HistogramBatches.of(FILMS, asked(pair), "p", person=who, items=what).fingerprint)
            in shown
            for who, what in (("person", "items"), ("user", "item"))
        )
    ]


def test_a_published_folder_confirms_no_weights(tmp_path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    secret = ("film 3", "film 7")
    rng = np.random.default_rng(4)
    lists = [[ITEMS[k] for k in rng.integers(0, COUNT, 3)] for _ in range(5)]
    table = tmp_path / "in.parquet"
    pq.write_table(pa.table({"person": [f"u{k}" for k in range(5)], "items": lists}), table)
    job = HistogramBatches.of(FILMS, asked(secret), "p")
    out = tmp_path / "o.parquet"
    run(job, table, out, key="a key of mine", ledger=None, processes=1)
    shown = published(out)
    assert recovered(shown) == []
    assert "a key of mine" not in shown
    assert recovered(shown + job.fingerprint) == [secret], "the control was not found"
    receipt = out.with_name(".o.parquet.receipt")
    assert receipt.stat().st_mode & 0o077 == 0, "what a rerun needs is its owner's alone"
    assert recovered(receipt.read_text()) == []
    keyed = Seal.of(None, json.loads(receipt.read_text()))
    assert recovered(receipt.read_text(), keyed) == [secret], "the nonce beside it is the control"
    again = tmp_path / "again.parquet"
    with open_ledger(tmp_path / "ledger.db") as ledger:
        run(job, table, again, key="a key of mine", ledger=ledger, processes=1)
        told = again.with_name(".again.parquet.receipt").read_text()
        assert run(job, table, again, key="a key of mine", ledger=ledger).replayed
        assert recovered(told, Seal.of(ledger, None)) == [secret], "the control was not found"
    assert recovered(told) == recovered(told, Seal.of(None, json.loads(told))) == []


def test_a_published_folder_says_public_facts_only(tmp_path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"person": ["u"], "items": [["film 1"]]}), tmp_path / "in.parquet")
    out = tmp_path / "o.parquet"
    job = HistogramBatches.of(FILMS, asked(()), "p")
    run(job, tmp_path / "in.parquet", out, key="k", ledger=None, processes=1)
    about = json.loads((out / "_reticent.json").read_text())
    assert set(about) == {"schema", "people", "private", "counted", "event"}
