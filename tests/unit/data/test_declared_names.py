"""Names: text, in an order that no table decides, declared or not; and what weight 0 leaves."""

import random

import numpy as np
import pytest

from reticent.data.catalogue import Catalogue
from reticent.data.graphs import Graph
from reticent.data.interactions import read_profiles
from reticent.data.labels import canonical, codes_of, in_order, text_of
from reticent.data.profiles import Profiles
from reticent.errors import ParameterError

LINES = [
    *(("10", "Up"), ("9", "Heat"), ("ann", "Heat"), ("ann", "10"), ("bob", "9"), ("9", "Up")),
    *(("-3", "Alien"), ("007", "Up")),
]


def everything(profiles: Profiles) -> tuple[object, ...]:
    arrays = (profiles.indptr, profiles.indices, profiles.weights)
    return (*(array.tolist() for array in arrays), list(profiles.people), list(profiles.items))


def read(lines, **declared) -> Profiles:
    who, what = ([line[at] for line in lines] for at in (0, 1))
    weights = [line[2] if len(line) > 2 else 1.0 for line in lines]
    return Profiles.of(who, what, weights, **declared)


def orders(lines) -> list[list]:
    shuffled = random.Random(4).sample(lines, len(lines))
    return [lines, lines[::-1], sorted(lines), sorted(lines, key=lambda line: line[1]), shuffled]


def of_first_appearance(occurring, names, declared=None):
    """What reading did before: the control."""
    found = list(dict.fromkeys(occurring[occurring >= 0].tolist()))
    places = np.full(len(names) + 1, -1, dtype=np.int64)
    places[found] = np.arange(len(found))
    return places, [names[code] for code in found]


def test_the_order_of_lines_does_not_show() -> None:
    found = [everything(read(lines)) for lines in orders(LINES)]
    assert all(one == found[0] for one in found)
    assert found[0][3] == ["9", "10", "007", "-3", "ann", "bob"]
    assert found[0][4] == ["9", "10", "Alien", "Heat", "Up"]


def test_control_names_in_the_order_of_first_appearance_show_it(monkeypatch) -> None:
    monkeypatch.setattr("reticent.data.profiles.canonical", of_first_appearance)
    found = [everything(read(lines)) for lines in orders(LINES)]
    assert any(one != found[0] for one in found)


@pytest.mark.parametrize("person", ["ann", "zoe", "0"])
@pytest.mark.parametrize("item", ["Alien", "A Secret"])
@pytest.mark.parametrize("weight", [0, -1, None, 2.0**-21])
def test_a_line_that_counts_nothing_leaves_no_trace(person, item, weight) -> None:
    plain = everything(read(LINES))
    for lines in orders([*LINES, (person, item, weight)]):
        assert everything(read(lines)) == plain


def test_an_item_is_withheld_if_any_of_its_lines_says_so() -> None:
    club = read([("ann", "Heat", 1.0), ("ann", "Heat", 0.0), ("bob", "Up", 1.0)])
    assert everything(club) == everything(read([("bob", "Up", 1.0)]))


def test_declared_people_and_items_are_all_there_and_others_are_not(tmp_path) -> None:
    declared = {"people": ["zoe", 9, "ann"], "items": ["Up", 9.0, "Nowhere"]}
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "t.csv"
    path.write_text("user,item\n" + "".join(f"{who},{what}\n" for who, what in LINES))
    columns = {"user": [who for who, _ in LINES], "item": [what for _, what in LINES]}
    for club in (
        read(LINES, **declared),
        read_profiles(path, **declared),
        Profiles.from_frame(arrow.table(columns), **declared),
    ):
        assert (list(club.people), list(club.items)) == (
            ["9", "ann", "zoe"],
            ["9", "Nowhere", "Up"],
        )
        assert club.sizes.tolist() == [1, 0, 0]
        assert club.row(0).tolist() == [2]
    with pytest.raises(ParameterError, match="people must be distinct"):
        read(LINES, people=[7, "7"])


def test_with_a_declaration_lines_of_others_change_nothing() -> None:
    declared = {"people": ["ann", "bob"], "items": ["Heat", "Up"]}
    more = [*LINES, ("mallory", "Heat"), ("ann", "A Secret")]
    assert everything(read(more, **declared)) == everything(read(LINES, **declared))
    assert everything(read(more)) != everything(read(LINES))  # the control


@pytest.mark.parametrize("seven", [7, 7.0, "7", np.int32(7), np.float64(7), b"7"])
def test_seven_is_one_name_however_it_is_written(seven) -> None:
    assert text_of(seven) == "7"
    club = Profiles.of([seven, "7"], ["Heat", "Up"])
    assert (club.people, club.sizes.tolist()) == (["7"], [2])
    assert Profiles.of([seven], ["Heat"]).in_catalogue(["7"], ["Heat"]).sizes.tolist() == [1]
    assert Catalogue.of([[1]], items=[seven]).items == ("7",)
    assert Graph.of_edges([(seven, "8")], nodes=["7", 8]).n_edges == 1


def test_whole_numbers_and_their_texts_are_read_alike() -> None:
    numbers = np.array([12, 5, 12, -4, 10**17])
    codes, names = codes_of(numbers, "people")
    assert [names[code] for code in codes] == [str(number) for number in numbers.tolist()]
    texts, spelt = codes_of([str(number) for number in numbers.tolist()], "people")
    assert (
        canonical(codes, names)[1] == canonical(texts, spelt)[1] == ["5", "12", str(10**17), "-4"]
    )


def test_arrow_sorts_names_as_python_does() -> None:
    arrow = pytest.importorskip("pyarrow")
    from reticent.running.people import canonical_order

    names = ["b", "10", "9", "", "007", "é", "Ω", "\U0001f600", "\uffff", "-1", "7\n", "٣", "a"]
    order = canonical_order(arrow.array(names))
    assert [names[at] for at in order] == sorted(names, key=in_order)
    for numbers in ([10, 9, 100], [10, -9, 9, -100, 0]):
        order = canonical_order(arrow.array(numbers))
        assert [numbers[at] for at in order] == sorted(numbers, key=in_order)


@pytest.mark.parametrize("zero", ["0", "0.0", "-1"])
def test_a_weight_of_0_does_not_decide_whether_a_column_holds_numbers(zero, tmp_path) -> None:
    for weights in (["x", "x"], ["x", "x", zero]):
        count = len(weights)
        with pytest.raises(ParameterError, match="weights"):
            Profiles.of(["ann"] * count, [f"i{n}" for n in range(count)], weights)
        path = tmp_path / "t.csv"
        lines = [f"ann,i{n},{weight}" for n, weight in enumerate(weights)]
        path.write_text("\n".join(["user,item,weight", *lines]))
        with pytest.raises(ParameterError, match="weights"):
            read_profiles(path)
