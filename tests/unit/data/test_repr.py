"""No value that holds private data shows it when it is printed."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import reticent
from reticent.data.frame_tables import Interactions
from reticent.data.frames import Frame
from reticent.data.people_tables import People
from reticent.data.profiles import Profiles
from reticent.data.tables import Table
from reticent.gateway.directory import Person
from reticent.mechanisms.modular import WeightedProfile
from reticent.preferences import Preferences
from reticent.running.merging import Part

CANARY = "canary-5520"
NUMBER = 987_651
ARRAY = re.compile("NDArray|ArrayLike")
PEOPLE = {
    *("gateway.directory.Person", "gateway.memory.Known", "gateway.memory.Memory"),
    *("gateway.drawing.Drawn", "gateway.credentials.Session", "running.merging.Part"),
    *("tasks.batched.Drawn", "tasks.recoding.ReleaseOnce", "queries.profile_tables.Held"),
    *(
        "queries.neighbour_methods.Found",
        "tasks.released_store.DrawnProfiles",
        "preferences.file.Preferences",
    ),
    *("mechanisms.dampening.Scored", "tasks.percentile.PercentileSensitivity"),
    *("tasks.influence._ByDegree", "mechanisms.multilevel_plan.ManyPlans"),
    *("optim.mapping.Problem", "optim.mapping_frank_wolfe.Point", "optim.linear_step.LinearStep"),
    *("optim.mapping_newton.State", "optim.mapping_paper._Program"),
    *("preferences.file.Grant", "preferences.decisions.Decision"),
    *("preferences.model.Wishes", "preferences.model.Provider", "preferences.layout.Layout"),
}
"""Values that hold what people have, wish or were given, in other types."""


def classes() -> list[type[Any]]:
    found = {}
    for module in pkgutil.walk_packages(reticent.__path__, "reticent."):
        if module.name.endswith("__main__") or module.name.startswith("reticent.spark"):
            continue
        for held in vars(importlib.import_module(module.name)).values():
            own = inspect.isclass(held) and held.__module__ == module.name
            if own and dataclasses.is_dataclass(held):
                found[held] = None
    return list(found)


def shows(held: type[Any]) -> bool:
    """Whether printing would show a field that may be private."""
    if not held.__dataclass_params__.repr or "__repr__" not in vars(held):  # type: ignore[attr-defined]
        return False
    if getattr(held.__repr__, "__wrapped__", None) is None:  # written by hand
        return False
    shown = [str(field.type) for field in dataclasses.fields(held) if field.repr]
    return any(ARRAY.search(kind) for kind in shown) or _named(held) in PEOPLE


def _named(held: type[Any]) -> str:
    return f"{held.__module__}.{held.__qualname__}".removeprefix("reticent.")


def test_no_value_with_data_of_people_prints_its_fields() -> None:
    every = classes()
    assert len(every) > 200
    assert {_named(held) for held in every} >= PEOPLE
    assert [_named(held) for held in every if shows(held)] == []


def test_control_a_value_that_prints_its_fields_is_caught() -> None:
    @dataclass(frozen=True)
    class Loose:
        values: "np.typing.NDArray[np.float64]"

    @dataclass(frozen=True)
    class Careful:
        values: "np.typing.NDArray[np.float64]" = dataclasses.field(repr=False)

    assert shows(Loose)
    assert not shows(Careful)


def values() -> list[Any]:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"user": [CANARY] * 2, "item": [CANARY, "x"], "weight": [0.987651, 1.0]})
    texts = {"name": np.array([CANARY])}
    wishes = f'version = 1\n[items]\n"{CANARY}" = 0.5\n'
    return [
        Profiles.of([CANARY], [CANARY]),
        Interactions.of(table),
        Frame.of(table),
        People("people.csv", texts),
        Table({"name": [CANARY], "pay": [NUMBER]}),
        WeightedProfile.of([1.0], [0.987651]),
        Part("00001", [CANARY], [NUMBER], CANARY),
        Preferences.parse(wishes),
        Person("p1", "t1", Preferences.parse(wishes), {"pay": CANARY}, (CANARY,), 1),
    ]


def test_printing_shows_shapes_at_most() -> None:
    for value in values():
        for text in (repr(value), str(value), f"{value}"):
            assert CANARY not in text
            assert str(NUMBER) not in text
            assert "0.98765" not in text
            assert len(text) < 200
        assert not hasattr(value, "_repr_html_")
    assert repr(values()[0]) == "Profiles(1 people, 1 items)"
    assert repr(values()[1]) == "Interactions(Profiles(1 people, 2 items))"
