"""A mapping that does not hide what preferences want hidden: the command that learns one that does.

Not here  whether it hides it (tasks/hidden_secrets.py), learning (queries/mapping.py).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reticent.amounts import show_up
from reticent.cli.failures import Refusal
from reticent.cli.files import free_name

if TYPE_CHECKING:
    from reticent.tasks.hidden_secrets import NotHidden
    from reticent.tasks.recoding import Recoding

_STRICTER = Path("stricter.json")  # the name of the mapping that would be allowed


def refused(error: NotHidden, people: Path | None, *, readable: bool) -> Refusal:
    """What preferences refuse; next a mapping of these people that keeps every limit, if any can.

    ``readable``: the names of columns of that table may be looked up.
    """
    from reticent.preferences.problems import amount
    from reticent.tasks.hidden_secrets import NEGLIGIBLE
    from reticent.tasks.leakage import secret_bits

    limits = {secret: amount(limit) for secret, limit in error.wishes.hide.items()}
    listed = {secret.casefold() for secret in limits}
    for name, bits in secret_bits(error.recoding).items():
        if name.casefold() not in listed:
            limits[name] = show_up(max(bits, float(NEGLIGIBLE)))
    hidden = {secret.casefold() for secret in limits}
    columns = [name for name in error.recoding.columns if name.casefold() not in hidden]
    missing = _missing(people, list(limits)) if readable and people is not None else ""
    following, more = shlex.join(("reticent", "prefs", "check", error.wishes.file)), ""
    if missing:
        more = f"; {people} has no column {missing}, so none can be made from it"
    elif not columns:
        more = "; no column would be left to release"
    elif people is not None:
        following = _learn(error.recoding, people, limits, columns)
    return Refusal(error.what, why=f"{error.why}{more}", next_command=following)


def _missing(people: Path, secrets: Sequence[str]) -> str:
    """A secret that the table does not hold."""
    from reticent.data.people_tables import read_people
    from reticent.errors import ReticentError

    try:
        held = {name.casefold() for name in read_people(people).columns}
    except (OSError, ReticentError):
        return ""  # what is wrong with it is said when people are released
    return next((name for name in secrets if name.casefold() not in held), "")


def _learn(recoding: Recoding, people: Path, limits: dict[str, str], columns: Sequence[str]) -> str:
    words = ["reticent", "release", "mapping", str(people), "--secret", ",".join(limits)]
    words += ["--public", ",".join(columns)]
    widths = {name: width for name, width in recoding.widths.items() if name in columns}
    heavy = dict(zip(recoding.columns, recoding.measure.weights or (), strict=False))
    weights = {name: weight for name, weight in heavy.items() if name in columns}
    for option, amounts in (("--bins", widths), ("--weights", weights)):
        if amounts:
            told = ",".join(f"{name}={value:.12g}" for name, value in amounts.items())
            words += [option, told]
    words += ["--leak", ",".join(f"{name}={bits}" for name, bits in limits.items())]
    return shlex.join([*words, "--out", str(free_name(_STRICTER))])
