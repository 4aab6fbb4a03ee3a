import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.errors import CannotCompose, ParameterError
from reticent.guarantees import (
    EDGE,
    ITEM,
    RECORD,
    RECORD_SUBSTITUTE,
    MultiLevelDP,
    MutualInformation,
    PerItemDP,
    PureDP,
    Spread,
    Unit,
    Unprotected,
    compose,
    compose_disjoint,
)
from reticent.guarantees.losses import loss_from_dict, loss_to_dict

NAMES = ["a", "b", "c"]
spreads = st.builds(
    Spread,
    st.integers(0, 10**12),
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 10**12), max_size=3),
)
losses = st.one_of(
    st.builds(PureDP, st.integers(0, 10**12), st.just(ITEM)),
    st.builds(PerItemDP, spreads),
    st.builds(MultiLevelDP, spreads, spreads),
)


@given(spreads, spreads, st.sampled_from([*NAMES, "unnamed"]))
def test_spreads_add_and_maximise_name_by_name(x: Spread, y: Spread, name: str) -> None:
    assert (x + y)[name] == x[name] + y[name]
    assert x.maximum(y)[name] == max(x[name], y[name])
    assert x.largest() >= x[name]


@given(spreads)
def test_spreads_are_equal_by_meaning(x: Spread) -> None:
    spelled_out = Spread(x.default, {**x.named, "d": x.default})
    assert spelled_out == x
    assert hash(spelled_out) == hash(x)
    assert pickle.loads(pickle.dumps(x)) == x


@given(st.lists(losses, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_composition_adds_name_by_name_in_any_order(parts, random) -> None:
    total = compose(parts)
    for name in [*NAMES, "unnamed"]:
        assert total.items[name] == sum(part.items[name] for part in parts)
        assert total.attributes[name] == sum(part.attributes[name] for part in parts)
    random.shuffle(parts)
    assert compose(parts) == total


@given(st.lists(losses, min_size=1, max_size=5))
def test_disjoint_parts_cost_the_largest(parts) -> None:
    together = compose_disjoint(parts)
    assert together.overall == max(part.overall for part in parts)
    assert together.overall <= compose(parts).overall


@given(losses)
def test_losses_round_trip(loss) -> None:
    assert loss_from_dict(loss_to_dict(loss)) == loss
    assert pickle.loads(pickle.dumps(loss)) == loss


def test_mutual_information_round_trips_and_does_not_add() -> None:
    leak = MutualInformation(0.05, 0.1, "gender", "census sample")
    assert loss_from_dict(loss_to_dict(leak)) == leak
    with pytest.raises(CannotCompose, match="does not add"):
        compose([leak, leak])
    with pytest.raises(CannotCompose, match="does not add"):
        compose_disjoint([leak])


def test_what_is_unprotected_does_not_add() -> None:
    nothing = Unprotected("the people it is learnt from")
    assert loss_from_dict(loss_to_dict(nothing)) == nothing
    for join in (compose, compose_disjoint):
        with pytest.raises(CannotCompose, match="the people it is learnt from are not protected"):
            join([nothing, PureDP.of(1, RECORD)])
    with pytest.raises(ParameterError, match="whom must be a name"):
        Unprotected("")


def test_units_do_not_mix() -> None:
    with pytest.raises(CannotCompose, match="one edge of a graph.*one record"):
        compose([PureDP.of(1, EDGE), PureDP.of(1, RECORD)])
    with pytest.raises(CannotCompose, match="do not add"):
        compose([PureDP.of(1, RECORD_SUBSTITUTE), PureDP.of(1, RECORD)])


def test_disjoint_parts_are_refused_for_substitution() -> None:
    """Theorem 2's counterexample: the replacement may fall into the other part."""
    with pytest.raises(CannotCompose, match="another part"):
        compose_disjoint([PureDP.of(1, RECORD_SUBSTITUTE)] * 2)


def test_weights_scale_the_loss_of_each_item_and_round_up() -> None:
    loss = PerItemDP.of("1/3", {"film": 0.5, "hidden": 0}, default=1)
    assert loss.items["film"] == math.ceil(Fraction(10**9, 6))
    assert loss.items["hidden"] == 0
    assert loss.items["anything else"] == loss.overall == math.ceil(Fraction(10**9, 3))


def test_the_default_weight_withholds() -> None:
    assert PerItemDP.of(1, {"film": 1}).items["not named"] == 0


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, -math.inf, "x", None, True, [1]])
def test_bad_epsilon_is_refused(epsilon) -> None:
    with pytest.raises(ParameterError, match="^epsilon must be .*, got "):
        PureDP.of(epsilon, RECORD)


@pytest.mark.parametrize("weight", [-0.1, 1.1, math.nan, math.inf, "heavy"])
def test_bad_weights_are_refused(weight) -> None:
    with pytest.raises(ParameterError, match="^weight must be "):
        PerItemDP.of(1, {"a": weight})


@pytest.mark.parametrize("amount", [-1, 1.5, True, None, "1"])
def test_amounts_are_whole(amount) -> None:
    with pytest.raises(ParameterError, match="^amount must be a non-negative integer"):
        Spread(amount)


@pytest.mark.parametrize(("thing", "relation"), [("group", "add-remove"), ("item", "swap"), (1, 2)])
def test_units_are_named(thing, relation) -> None:
    with pytest.raises(ParameterError, match=" must be "):
        Unit(thing, relation)


def test_per_item_losses_need_an_item_unit() -> None:
    with pytest.raises(ParameterError, match="unit must be an item unit"):
        PerItemDP(Spread(1), RECORD)


@pytest.mark.parametrize("bits", [-1, math.nan, math.inf, "0.1"])
def test_bad_bits_are_refused(bits) -> None:
    with pytest.raises(ParameterError, match="^bits must be"):
        MutualInformation(bits, 0.1, "gender", "prior")


def test_a_loss_whose_kind_does_not_fit_is_refused() -> None:
    data = loss_to_dict(PerItemDP.of(1, {"a": 1})) | {"kind": "pure-dp"}
    with pytest.raises(ParameterError, match="^kind must be"):
        loss_from_dict(data)
