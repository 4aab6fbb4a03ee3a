"""Every kind, on every surface it says it is on: the same value and the same promise."""

import csv
import json
from fractions import Fraction
from importlib import resources
from pathlib import Path

import pytest

import reticent as rt
from reticent.errors import ParameterError
from reticent.noise import Source
from reticent.queries import publish, registry
from reticent.queries.base import Pays, Query
from reticent.queries.inputs import Artefact, MappingFile

PAY = [("ann", 20), ("bob", 35), ("cid", 41), ("dan", 58), ("eve", 90)]
LINKS = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("d", "e")]
SEEN = [("ann", "north", 5), ("ann", "south", 2), ("bob", "north", 9), ("cid", "west", 1)]
CLUB = [("ann", "Heat", 1), ("ann", "Up", 0.5), ("bob", "Heat", 1), ("cid", "Alien", 1)]
PETS = [("20", "cat", "no"), ("70", "dog", "yes"), ("x", "owl", "yes"), ("55", "", "other")]
DECLARED = {
    "columns": {
        "age": {"bounds": [0, 100], "bins": 4},
        "pet": {"categories": ["cat", "dog"]},
        "rooms": {"edges": [0, 1, 5.5]},
    },
    "target": {"classes": ["no", "yes"], "weights": {"yes": 2, "no": 1}},
}
ROWS = [(*row[:2], "3", row[2]) for row in PETS]
TREE = rt.Tree(epsilon=9, target="votes", declare=DECLARED, max_depth=2)
EVERYBODY = {"people": (("person",), [("ann",), ("bob",), ("cid",), ("dan",)])}
SKETCHES = rt.Sketches(epsilon=4, profile_size=3, use="items")
TOWN = [("ann", "18-29", "town", "4 or more"), ("bob", "65 or older", "town", "0-1")]
FOLK = [
    (f"p{n}", 20 + n % 20, ("town", "land")[n % 3 == 0], ("low", "high")[n * 7 % 20 > 9])
    for n in range(60)
]
MAPPING = resources.files("reticent.gateway") / "demo_mapping.json"
SAMPLES = {
    "counts": (
        rt.Counts(epsilon=1, records=2, upper=10),
        {
            "table": (("person", "category", "value"), SEEN),
            "categories": (("category",), [("north",), ("south",)]),
        },
    ),
    "quantile": (rt.Quantile(epsilon=2, upper=100), {"table": (("pay",), [(p,) for _, p in PAY])}),
    "percentile": (rt.Percentile(epsilon="0.5", upper=100), {"table": (("person", "value"), PAY)}),
    "top-nodes": (
        rt.TopNodes(epsilon=1, bound=3, k=2),
        {"edges": (("source", "target"), LINKS), "nodes": (("node",), [(n,) for n in "abcdef"])},
    ),
    "histogram": (
        rt.Histogram(provider="shop", goal="mae", epsilon=2),
        {
            "profiles": (("person", "item", "weight"), CLUB),
            "catalogue": (("item", "attribute"), [("Heat", "Crime"), ("Up", "Family")]),
            "people": (("person",), [("ann",), ("bob",), ("cid",), ("dan",)]),
        },
    ),
    "similarity": (
        rt.Similarity(epsilon=1, pair=("ann", "bob")),
        {
            "profiles": (("person", "item", "weight"), CLUB),
            "people": (("person",), [("ann",), ("bob",), ("cid",), ("dan",)]),
            "items": (("item",), [("Heat",), ("Up",), ("Alien",)]),
        },
    ),
    "sketches": (SKETCHES, {"profiles": (("person", "item", "weight"), CLUB), **EVERYBODY}),
    "neighbours": (
        rt.Neighbours(epsilon=2, k=2),
        {"profiles": (("person", "item", "weight"), CLUB), **EVERYBODY},
    ),
    "recommendations": (
        rt.Recommendations(n_items=2, k=2),
        {"items": (("item",), [("Heat",), ("Up",), ("Alien",)])},
    ),
    "mapping": (
        rt.Mapping(secret="income", delta="0.3", bins={"age": 10}),
        {"table": (("user", "age", "home", "income"), FOLK)},
    ),
    "profile": (
        rt.Profile(),
        {"table": (("person", "age group", "home", "evenings out"), TOWN)},
    ),
    "tree": (TREE, {"table": (("age", "pet", "rooms", "votes"), ROWS)}),
    "predict": (
        rt.Predict(proba=True),
        {"rows": (("age", "pet", "rooms", "id"), [("30", "cat", "1", "a"), ("?", "dog", "", "b")])},
    ),
}
"""A query and its tables, for each kind."""
MADE = {"tree": TREE, "sketches": SKETCHES}
"""What makes the artefacts, by kind."""
KINDS = list(registry.queries())
PAID = [kind for kind, query in registry.queries().items() if query.pays is not Pays.NOBODY]


def named(query: Query) -> dict[str, str]:
    """What the data are called, where they pay."""
    return {"data_set": "x"} if query.pays in (Pays.DATA_SET, Pays.NOTED) else {}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes the tables of a kind; the noise is the same in each run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Source, "system", classmethod(lambda _: Source.seeded(7)))

    def write(kind: str) -> dict[str, Path]:
        found = {}
        for name, one in registry.query_of(kind).inputs.items():
            if isinstance(one, MappingFile):
                found[name] = tmp_path / f"{name}.json"
                found[name].write_bytes(MAPPING.read_bytes())
            if isinstance(one, Artefact) and one.required:
                found[name] = tmp_path / f"{name}.json"
                found[name].write_text(publish.as_json(MADE[one.kind].release(write(one.kind))))
        for name, (heads, rows) in SAMPLES[kind][1].items():
            found[name] = tmp_path / f"{name}.csv"
            with found[name].open("w", newline="") as file:
                csv.writer(file).writerows([heads, *rows])
        return found

    return write


def typed(query: Query, tables: dict[str, Path]) -> list[str]:
    """The query as one types it."""
    words = []
    first = next(iter(query.inputs))
    for name, path in tables.items():
        alone = query.inputs[name].required or name == first
        words += [str(path)] if alone else [f"--{name}", str(path)]
    for one in query.options():
        name, value = one.name, query.to_plain()[one.name]
        if value not in (None, False):
            option = f"--{name.replace('_', '-')}"
            told = ",".join(value) if isinstance(value, list) else str(value)
            if isinstance(value, dict):
                told = toml(name, value) if one.kind.form else amounts(value)
            words += [option] if value is True else [option, told]
    return words


def amounts(told: dict[str, str]) -> str:
    """As a shell takes them."""
    return ",".join(f"{name}={amount}" for name, amount in told.items())


def toml(name: str, told: dict) -> str:
    """Writes what a shell takes as a file."""

    def lines(path: tuple[str, ...], held: object):
        if isinstance(held, dict):
            for key, value in held.items():
                yield from lines((*path, json.dumps(key)), value)
        else:
            yield f"{'.'.join(path)} = {json.dumps(held)}"

    path = Path(f"{name}.toml")
    path.write_text("\n".join(lines((), told)))
    return str(path)


def released(query: Query, tables: dict[str, Path]):
    """An answer; where somebody pays, as a ledger counts it."""
    charged = {"ledger": "python.db", **named(query)} if query.kind in PAID else {}
    return query.release(tables, **charged)


def other(query: Query) -> Query:
    """The same query with another option."""
    changed = {"mapping": {"delta": "0.2"}, "profile": {"once": "store.json"}}
    changed = changed.get(query.kind, {"epsilon": 3})
    return type(query)(**{**vars(query), **changed})


def command(kind: str) -> list[str]:
    """The command of a kind."""
    return [*registry.query_of(kind).verb.split(), kind]


def promise(card: dict) -> dict:
    """What a card promises, without where and when it was made."""
    return {name: card[name] for name in ("title", "words", "promise", "scope", "how", "event")}


def test_every_kind_has_a_sample() -> None:
    assert list(SAMPLES) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_python_and_shell_release_the_same(cli, files, kind) -> None:
    query, tables = SAMPLES[kind][0], files(kind)
    answer = released(query, tables)
    where = ["--yes", "--ledger", "shell.db", *(("--data-set", "x") if named(query) else ())]
    words = [*command(kind), *typed(query, tables), *(where if kind in PAID else [])]
    ended = cli(*words, "--json")
    assert ended.code == 0, ended.err
    assert ended.json["value"] == publish.fields(answer)["value"]
    assert ended.json["query"] == query.to_plain()
    assert ended.json.get("notes", []) == list(answer.notes)
    own = json.loads(answer.card.to_json())
    assert promise(ended.json["card"]) == promise(own)
    assert ended.json["card"]["budget"] == own["budget"]
    assert ended.json.get("spent", "0") == answer.spent


@pytest.mark.parametrize("kind", PAID)
def test_python_and_shell_plan_the_same(cli, files, kind) -> None:
    query, inputs = SAMPLES[kind][0], SAMPLES[kind][0].inputs
    needed = {n: path for n, path in files(kind).items() if inputs[n].public and inputs[n].required}
    counted = ("--count", "6") if query.counted else ()
    ended = cli("plan", kind, *typed(query, needed), *counted)
    assert ended.code == 0, ended.err
    made = query.plan(needed, count=6)
    assert ended.out.splitlines() == made.lines()
    assert str(made).splitlines() == [*made.lines(), *made.warnings()]
    assert all(line in ended.err for line in made.warnings())


@pytest.mark.parametrize("kind", PAID)
def test_a_key_repeats_value_and_card_byte_by_byte(files, kind) -> None:
    query, tables = SAMPLES[kind][0], files(kind)
    given = {"ledger": "l.db", "key": "1", **named(query)}
    first, again = query.release(tables, **given), query.release(tables, **given)
    assert (first.replayed, again.replayed) == (False, True)
    assert again.spent == "0"
    assert publish.as_json(first) == publish.as_json(again)
    assert publish.as_csv(first) == publish.as_csv(again)
    with pytest.raises(rt.ReticentError, match="key"):
        other(query).release(tables, **given)


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_is_plain_data(kind) -> None:
    query = SAMPLES[kind][0]
    told = json.loads(json.dumps(query.to_plain()))
    assert registry.query_of(kind).of_plain(told) == query
    assert hash(query) == hash(registry.query_of(kind).of_plain(told))
    with pytest.raises(ParameterError):
        type(query).of_plain({**told, "other": 1})
    with pytest.raises(ParameterError):
        type(query).of_plain({**told, "kind": "other"})


def test_the_table_of_cells_is_the_registry(cli) -> None:
    told = cli("queries", "--json").json["queries"]
    assert [one["query"] for one in told] == KINDS
    for one in told:
        cells = {**one["verbs"], **one["surfaces"]}
        assert all(cell is True or isinstance(cell, str) for cell in cells.values())
        assert cells["release"] is cells["Python"] is cells["shell"] is True
        assert (cells["plan"] is True) is (one["query"] in PAID)


def test_a_kind_that_nobody_knows() -> None:
    with pytest.raises(ParameterError, match="kind must be one of counts"):
        registry.query_of("medians")


def test_another_package_adds_a_kind(monkeypatch) -> None:
    class Own(rt.Quantile):
        """A kind of one's own."""

        kind = "own"

    class Point:
        name, dist = "own", None

        def __init__(self, made) -> None:
            self.load = lambda: made

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point(Own)])
    registry.queries.cache_clear()
    assert registry.query_of("own") is Own
    odd = type("Odd", (rt.Quantile,), {"kind": "a/b"})  # neither a command nor an address
    for wrong in (int, rt.Quantile, odd):  # no query, and a kind that is taken
        monkeypatch.setattr(registry, "entry_points", lambda group, made=wrong: [Point(made)])
        registry.queries.cache_clear()
        with pytest.warns(RuntimeWarning, match="a package adds no query 'own'"):
            assert list(registry.queries()) == list(registry.OWN)
    monkeypatch.undo()
    registry.queries.cache_clear()
    assert "own" not in registry.queries()


def test_options_have_one_value_each() -> None:
    alike = [rt.Quantile(epsilon=e, upper=100) for e in (0.5, "0.5", "1/2", Fraction(1, 2))]
    assert len(set(alike)) == 1
    for wrong in ({"epsilon": 0}, {"q": 1}, {"upper": -1}, {"step": 0}, {"upper": "x"}):
        with pytest.raises(ParameterError, match=f"^{next(iter(wrong))} must be"):
            rt.Quantile(**{"epsilon": 1, "upper": 9, **wrong})


def test_a_key_is_good_for_one_public_table(files) -> None:
    """Else an answer would be repeated under the names of another list."""
    query, tables = SAMPLES["counts"][0], files("counts")
    given = {"ledger": "l.db", "key": "1", "data_set": "x"}
    first = query.release(tables, **given)
    assert query.release(tables, **given).value == first.value
    (tables["categories"]).write_text("category\neast\nwest\n")
    with pytest.raises(rt.ReticentError, match="key"):
        query.release(tables, **given)
    tables = files("similarity")
    asked, given = rt.Similarity(epsilon=1), {"ledger": "l.db", "key": "2"}
    first, other = (
        {**tables, "pairs": {"person": ["ann", left], "other": [right, "dan"]}}
        for left, right in (("cid", "bob"), ("bob", "cid"))
    )
    assert asked.release(first, **given).value == asked.release(first, **given).value
    with pytest.raises(rt.ReticentError, match="key"):
        asked.release(other, **given)


def test_the_order_of_a_public_list_is_no_other_list(files) -> None:
    query, tables = SAMPLES["sketches"][0], files("sketches")
    del tables["people"]
    names, given = ["dan", "ann", "bob", "cid"], {"ledger": "l.db", "key": "1"}
    first = query.release(tables, people=names, **given)
    assert query.release(tables, people=sorted(names), **given).value == first.value
    assert query.release(tables, people=set(names), **given).value == first.value


def test_a_limit_without_a_ledger_is_a_mistake(files) -> None:
    query, tables = SAMPLES["quantile"][0], files("quantile")
    with pytest.raises(ParameterError, match="total must be left out"):
        query.release(tables, total=1)
