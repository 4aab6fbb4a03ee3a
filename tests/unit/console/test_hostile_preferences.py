"""A preferences file that somebody sends by a form costs little, whatever is in it."""

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.unit.preferences.hostile import HOSTILE, LONGEST, MEGABYTES, SECONDS, cost, peak

SHAPES = ["dotted key", "arrays", "inline tables", "tables", "long name", "short keys"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_file_in_a_form_costs_little(console: Any, shape: str) -> None:
    ann = console.enter("ann")
    text = HOSTILE[shape]
    statuses = []

    def send() -> None:
        told = console.send("/me/file/edit", ann, text=text, version="1")
        statuses.append(told.status)

    if len(urlencode({"text": text})) > 262_000:  # signs that take three in a form
        text = text[: len(text) // 3]
    assert cost(send) < SECONDS
    assert peak(send) < MEGABYTES
    assert set(statuses) == {422}  # sent again where the machine is busy
    assert console.gateway.person("ann").version == 1


def test_the_longest_file_costs_little_on_its_pages(console: Any) -> None:
    ann, text = console.enter("ann"), LONGEST["items"]
    statuses = []

    def send(path: str, **fields: str) -> None:
        version = str(console.gateway.person("ann").version)
        statuses.append(console.send(path, ann, version=version, **fields).status)

    assert cost(lambda: send("/me/file/edit", text=text)) < SECONDS
    assert cost(lambda: send("/me/who", general="0.2")) < SECONDS
    assert cost(lambda: console.page("/me/file", ann)) < SECONDS
    assert cost(lambda: console.page("/me", ann)) < SECONDS
    assert set(statuses) == {303}
