import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reticent.errors import ParameterError
from reticent.guarantees import RECORD, Event, PureDP

plain = st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False))


@given(st.dictionaries(st.text(), plain, max_size=4), st.integers(0, 10**12), st.booleans())
def test_events_round_trip_through_json(parameters, nano, private) -> None:
    parameters = {k: v for k, v in parameters.items() if v not in (math.inf, -math.inf)}
    event = Event("mechanism", parameters, PureDP(nano, RECORD), private)
    again = Event.from_json(event.to_json())
    assert again == event
    assert again.to_json() == event.to_json()
    assert hash(again) == hash(event)
    assert pickle.loads(pickle.dumps(event)) == event


def test_events_are_frozen() -> None:
    event = Event("mechanism", {"a": 1}, PureDP(1, RECORD), True)
    with pytest.raises(AttributeError):
        event.private = False  # type: ignore[misc]
    with pytest.raises(TypeError):
        event.parameters["a"] = 2  # type: ignore[index]


@pytest.mark.parametrize("change", [{"mechanism": ""}, {"private": 1}, {"schema": "event/2"}])
def test_bad_events_are_refused(change) -> None:
    data = Event("mechanism", {}, PureDP(1, RECORD), True).to_dict()
    with pytest.raises(ParameterError, match=" must be "):
        Event.from_dict(data | change)
