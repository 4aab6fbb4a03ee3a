"""Released profiles at scale: Arrow batches through a mapping that was learnt from the census.

Notation  a job = the release, and the places of every batch's rows as if they were known
Not here  who measures (scale.py).

People are records of the census drawn with replacement, as they are: ages are numbers, other
columns text, and some profiles are too rare to be in the alphabet. ``gather`` is what a release
cannot do without: the same columns of the same number of people, taken at places that are known.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.data import load_adult
from reticent.data.people_tables import in_ranges
from reticent.noise import Source
from reticent.tasks.batched import arrow
from reticent.tasks.learning import Limits, learn_mapping
from reticent.tasks.recoding import Alphabet, Measure, Recoding
from reticent.tasks.recoding_arrow import ProfileBatches

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS = ("age", "education", "marital-status", "occupation", "race", "sex", "native-country")
WIDTH = 10.0
ROWS = 1 << 16
POOL = 16  # batches of records, used again and again for other people
AT_LEAST = 10  # people of a profile that is in the alphabet


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A release, and where it would find everybody."""

    release: ProfileBatches
    places: tuple[NDArray[np.int64], ...]


def make(people: int, *, coded: bool = False) -> tuple[Job, list[Any]]:
    """A job for so many people in batches; ``coded`` if their text comes as dictionaries."""
    pa = arrow()
    table = pa.table({name: pa.array(_texts(name)) for name in COLUMNS[1:]})
    table = table.add_column(0, "age", pa.array(np.array(load_adult()["age"], dtype=np.int64)))
    if coded:
        whole = {name: table[name].combine_chunks().dictionary_encode() for name in COLUMNS[1:]}
        table = pa.table({"age": table["age"], **whole})
    release = ProfileBatches(learnt(), provider="club.example")
    own = release.places(_batch(table))
    rng = np.random.default_rng(0)
    drawn = [rng.integers(0, table.num_rows, ROWS) for _ in range(min(POOL, -(-people // ROWS)))]
    pool = [_batch(table.take(records)) for records in drawn]
    batches, places = [], []
    for at, first in enumerate(range(0, people, ROWS)):
        who = np.arange(first, min(first + ROWS, people))
        rows = pool[at % POOL].slice(0, len(who))
        batches.append(rows.append_column("person", pa.array(who)))
        places.append(own[drawn[at % POOL][: len(who)]])
    return Job(release, tuple(places)), batches


def release(job: Job, batches: Sequence[Any]) -> Any:
    """Draw for everybody; the last batch, as one would write it down and forget it."""
    source, drawn = Source.system(), None
    for batch in batches:
        drawn = job.release.draw(batch, source)
    return drawn


def gather(job: Job, batches: Sequence[Any]) -> Any:
    """The columns of everybody's own profile, at known places, without a draw."""
    made = None
    for batch, places in zip(batches, job.places, strict=True):
        made = job.release.made(batch.column("person"), places, private=True)
    return made


@cache
def learnt() -> Recoding:
    """The census: a mapping that hides the income at a distortion of one column in twenty."""
    ages = in_ranges(np.array([str(age) for age in load_adult()["age"]]), WIDTH)
    public = np.column_stack([ages, *(_texts(name) for name in COLUMNS[1:])])
    alphabet = Alphabet.of(public, np.array([str(held) for held in load_adult()["income"]]))
    common = alphabet.at_least(AT_LEAST, Measure())
    limits = Limits(delta=0.05, relative_gap=1e-2)
    made = learn_mapping(common, limits, columns=COLUMNS, secret="income").recoding
    return Recoding(made.columns, made.profiles, made.mechanism, widths={"age": WIDTH})


def shares(job: Job, batches: Sequence[Any]) -> dict[str, float]:
    """CPU seconds of each part of a release."""
    source, part = Source.system(), job.release
    drawn = [part.recoding.draw(places, source) for places in job.places]
    steps: dict[str, Callable[[], object]] = {
        "find": lambda: [part.places(batch) for batch in batches],
        "draw": lambda: [part.recoding.draw(places, source) for places in job.places],
        "words of it": lambda: [source.long_words(len(places)) for places in job.places],
        "take": lambda: [
            part.made(batch.column("person"), own, private=True)
            for batch, own in zip(batches, drawn, strict=True)
        ],
    }
    return {name: _cpu(step) for name, step in steps.items()}


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _texts(name: str) -> NDArray[np.str_]:
    return np.array(["?" if held is None else str(held) for held in load_adult()[name]])


def _batch(table: Any) -> Any:
    return table.combine_chunks().to_batches()[0]


def main() -> None:
    """Figures for some numbers of people: ``python -m benchmarks.scale_profiles 100000 coded``."""
    coded = "coded" in sys.argv
    release(*make(ROWS, coded=coded))  # compiles
    for people in [int(word) for word in sys.argv[1:] if word.isdigit()]:
        job, batches = make(people, coded=coded)
        cost = _cpu(partial(release, job, batches))
        least = _cpu(partial(gather, job, batches))
        parts = shares(job, batches).items()
        told = ", ".join(f"{name} {1e9 * spent / people:.1f} ns" for name, spent in parts)
        print(
            f"{people:,} people: {people / cost:,.0f} a CPU second, {cost / least:.1f} times a "
            f"gather ({1e9 * least / people:.1f} ns); {told}"
        )


if __name__ == "__main__":
    main()
