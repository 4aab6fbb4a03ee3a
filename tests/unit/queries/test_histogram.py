"""A histogram is the mechanism's, whatever holds the profiles; who is declared has a row."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import reticent as rt
from reticent.data.catalogue import Catalogue
from reticent.errors import ParameterError, ReticentError
from reticent.noise import Source
from reticent.preferences import Preferences
from reticent.tasks.histogram import plan_for, possible
from reticent.tasks.histogram_batches import Histograms

FILMS = Catalogue.of(
    [[1, 1, 0], [0, 1, 0], [0, 1, 1]],
    attributes=("Crime", "Drama", "War"),
    items=("Heat", "Up", "Glory"),
)
LINES = {
    "person": ["bob", "ann", "ann", "cid", "bob"],
    "item": ["Glory", "Heat", "Up", "Unheard of", "Heat"],
}
WISHES = Preferences.parse("""
version = 1
[items]
Up = 0.5
[attributes]
default = 0.4
War = "withhold"
[providers.club]
epsilon = 0.5
""")
QUERY = rt.Histogram(provider="club")


def released(profiles, query=QUERY, films=FILMS, **more) -> dict:
    data = {"profiles": profiles, "catalogue": films}
    return query.release(data, preferences=WISHES, source=Source.seeded(9), **more).value


def test_one_person_is_the_mechanism_itself() -> None:
    plan, _ = plan_for(FILMS, WISHES, "club")
    from reticent.mechanisms import WeightedProfile

    held = WeightedProfile.of([1, 1, 0], weights=[1, 0.5, 1])
    own = plan.mechanism.release(held, Source.seeded(9).child("ann")).value
    found = released(LINES, rt.Histogram(provider="club", person="ann"))
    assert found == {"ann": dict(zip(("Crime", "Drama"), own.tolist(), strict=True))}


def test_everybody_is_the_batch() -> None:
    plan, _ = plan_for(FILMS, WISHES, "club")
    task = Histograms(FILMS.only(plan.attributes), weighted=True)
    own = task.release_alike(
        [0, 2, 4, 5],
        [0, 1, 0, 2, -1],  # ann's, bob's and cid's
        plan=plan,
        weights=[1, 0.5, 1, 1, 1],
        source=Source.seeded(9),
        people=lambda: ["ann", "bob", "cid"],
    ).values
    found = released(LINES)
    assert list(found) == ["ann", "bob", "cid"]
    assert np.array_equal([list(one.values()) for one in found.values()], own)


def test_whatever_holds_the_profiles_the_answer_is_the_same(tmp_path) -> None:
    frame = pandas.DataFrame(LINES)
    frame.to_csv(tmp_path / "club.csv", index=False)
    frame.to_parquet(tmp_path / "club.parquet")
    renamed = frame.rename(columns={"person": "who", "item": "film"})
    holders = [
        LINES,
        frame,
        frame.astype("category"),
        polars.DataFrame(LINES),
        pyarrow.table(LINES),
        tmp_path / "club.csv",
        str(tmp_path / "club.parquet"),
        rt.Profiles.of(LINES["person"], LINES["item"]),
    ]
    found = [released(one) for one in holders]
    found.append(released(renamed, columns={"person": "who", "profiles.item": "film"}))
    half = frame.rename(columns={"item": "title"})  # the other name is as usual
    found.append(released(half, columns={"item": "title"}))
    assert all(one == found[0] for one in found)


def test_a_catalogue_is_a_file_a_frame_or_columns(tmp_path) -> None:
    wide = {
        "item": ["Heat", "Up", "Glory"],
        "Crime": [1, 0, 0],
        "Drama": [1, 1, 1],
        "War": [0, 0, 1],
    }
    pandas.DataFrame(wide).to_csv(tmp_path / "films.csv", index=False)
    for held in (wide, pandas.DataFrame(wide), pyarrow.table(wide), tmp_path / "films.csv"):
        assert released(LINES, films=held) == released(LINES)


def test_whole_numbers_are_names() -> None:
    films = Catalogue.of([[1], [1]], attributes=["Drama"], items=["7", "12"])
    lines = {"person": [3, 3, 20], "item": [7, 12, 7]}
    data = {"profiles": pandas.DataFrame(lines), "catalogue": films}
    assert list(rt.Histogram(epsilon=1).release(data).value) == ["3", "20"]


def test_who_is_declared_has_a_row_and_others_have_none() -> None:
    found = released(LINES, people=["zoe", "ann"])
    assert list(found) == ["ann", "zoe"]
    others = {
        name: [*cells, "mallory" if name == "person" else "Heat"] for name, cells in LINES.items()
    }
    assert released(others, people=["zoe", "ann"]) == found


def test_moved_numbers_are_those_of_a_profile() -> None:
    plan, _ = plan_for(FILMS, WISHES, "club")
    scales = [float(scale) for scale in plan.mechanism.scales]
    noisy = np.array([list(one.values()) for one in released(LINES).values()])
    moved = released(LINES, rt.Histogram(provider="club", possible=True))
    own = possible(noisy, scales, FILMS.only(plan.attributes))
    assert np.array_equal([list(one.values()) for one in moved.values()], own)


@pytest.mark.parametrize(
    ("query", "change"),
    [
        (rt.Histogram(provider="spy"), {}),
        (rt.Histogram(provider="club", epsilon=1), {}),
        (rt.Histogram(provider="club", person="zoe"), {"people": ["ann"]}),
        (rt.Histogram(provider="club", replace=True), {}),
        (QUERY, {"preferences": None}),
        (QUERY, {"data": LINES}),
        (QUERY, {"columns": {"person": "nobody"}}),
        (QUERY, {"data_set": "x", "ledger": "l.db"}),
        (QUERY, {"people": []}),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_drawn(
    query, change, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"data": {"profiles": LINES, "catalogue": FILMS}, "preferences": WISHES} | change
    with pytest.raises(ReticentError) as refused:
        query.release(given.pop("data"), **given)
    assert "Unheard of" not in str(refused.value)


def test_own_device_is_of_one_person() -> None:
    with pytest.raises(ParameterError, match="a device is of one person"):
        rt.Histogram(provider="club", own_device=True)
    alone = rt.Histogram(provider="club", person="ann", own_device=True)
    data = {"profiles": LINES, "catalogue": FILMS}
    assert alone.release(data, preferences=WISHES).card.scope.model == "local"


def test_to_ask_for_a_person_is_to_declare_them() -> None:
    """Whether they have a line is not told: without one it is noise alone."""
    alone = rt.Histogram(provider="club", person="zoe")
    without = released(LINES, alone)
    light = {"person": [*LINES["person"], "zoe"], "item": [*LINES["item"], "Unheard of"]}
    assert list(without) == ["zoe"]
    assert released(light, alone) == without
    heat = {"person": [*LINES["person"], "zoe"], "item": [*LINES["item"], "Heat"]}
    assert released(heat, alone) != without  # the control: it does enter
