"""A noisy sketch of each person's items, published once and compared for nothing.

Theory    docs/theory/blip.md, Theorem 2 (weights by sampling), Theorem 4 (how many bits)
Not here  the filters (tasks/blip.py), what is read off them (neighbours.py, recommendations.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.errors import ParameterError, require
from reticent.queries.base import Answer, Public
from reticent.queries.items import ItemsQuery, ItemsTerms
from reticent.queries.offering import Lasts, Offering
from reticent.queries.options import BUDGET, at_least, choice, count, option
from reticent.queries.trials import Comparison, Trial
from reticent.rational import Number, budget

if TYPE_CHECKING:
    from reticent.data.profiles import Profiles
    from reticent.guarantees import Event
    from reticent.guarantees.card import Scope
    from reticent.noise import Source
    from reticent.tasks.blip import Blip
    from reticent.tasks.blip import Sketches as Published
    from reticent.tasks.comparing import Curves

LOAD = 100
"""Bits for each item of a profile, where single items are read off: 1 in 100 others looks held."""
SIZE_HELP = "How many items a profile is expected to have. Do not count them."


@dataclass(frozen=True, kw_only=True)
class Sketches(ItemsQuery):
    """A noisy sketch of each person's items.

    Sketches are published once. What is computed from them costs nothing more: neighbours,
    recommendations. An item of weight v loses at most v times epsilon, to anybody.
    """

    kind: ClassVar[str] = "sketches"
    offering: ClassVar[Offering] = Offering(
        name="sketch",
        gets="a noisy sketch of your items",
        about="a sketch of your items, by which a service can compare you with others",
        value={"type": "string", "pattern": "^[0-9a-f]+$"},
        lasts=Lasts.TERMS,
    )

    comparison: ClassVar[Comparison] = Comparison(
        reads=(), methods=("neighbours", "items"), unused=("use",), runs=None
    )

    epsilon: Number = option("What an item of weight 1 may lose, in all.", BUDGET)
    profile_size: int = option(SIZE_HELP, count(metavar="N"), default=100)
    use: str = option(
        "What will be read off them, which decides how long they are: who is near whom, or which "
        "items somebody may have.",
        choice("neighbours", "items"),
        default="neighbours",
    )

    def terms(self, public: Public) -> SketchesTerms:
        """See ``Query``."""
        return SketchesTerms(self, public, blip(self.epsilon, self.profile_size, self.use))

    def usual_method(self) -> str:
        """What they are made for."""
        return self.use

    def curves(self, tables: Mapping[str, Any], trial: Trial) -> Curves:
        """The error of the overlap of two sketches, from the law of the noise."""
        from reticent.tasks.comparing import chosen_ways
        from reticent.tasks.comparing_similarity import sketched_curves

        tried = {
            use: [blip(epsilon, self.profile_size, use) for epsilon in trial.values]
            for use in chosen_ways(self.comparison.methods, trial.methods)
        }
        return sketched_curves(tried, self.profile_size)

    def restore(self, value: Any) -> dict[str, str]:
        """Names and hexadecimal digits, as long as these options make them."""
        digits = blip(self.epsilon, self.profile_size, self.use).bits // 4
        good = isinstance(value, dict) and len(value) > 0
        require(good, "value", "another", "sketches by person")
        for name, sketch in value.items():
            proper = isinstance(sketch, str) and len(sketch) == digits and sketch.isascii()
            if not (proper and isinstance(name, str)):
                raise ParameterError("value", f"{digits} digits for each person", "others")
            bytes.fromhex(sketch)
        return dict(value)

    @classmethod
    def of_columns(cls, columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Sketches by person, in the order of names, whatever file they are in."""
        from reticent.data.labels import in_order, text_of

        names = [text_of(name) or "" for name in columns["person"]]
        found = dict(zip(names, columns["sketch"], strict=True))
        require(len(found) == len(names), "value", "others", "one sketch for each person")
        return {name: found[name] for name in sorted(found, key=in_order)}

    def told_by(self, value: Any) -> Public:
        """The people."""
        return Public(len(value), list(value), declared=True)


def blip(epsilon: Number, profile_size: int, use: str) -> Blip:
    """The filters, by public facts alone."""
    from reticent.tasks.blip import MOST_BITS, Blip

    at_least(budget(epsilon, "epsilon"), Fraction(1, 1 << 20))
    if use == "neighbours":
        return Blip.fitted(epsilon=epsilon, profile_size=profile_size)
    bits = 64 * math.ceil(min(LOAD * profile_size, MOST_BITS) / 64)
    return Blip(epsilon=epsilon, bits=bits)


@dataclass(frozen=True, slots=True)
class SketchesTerms(ItemsTerms):
    """A row of bits for each person."""

    mechanism: Blip  # it has all that terms ask for
    columns: ClassVar[tuple[str, ...]] = ("person", "sketch")

    @property
    def what(self) -> str:
        """In words."""
        return f"a noisy sketch of each person's items, {self.mechanism.bits:,} bits long"

    def event(self, source: Source) -> Event:
        """The event of sketches for so many people."""
        return self.mechanism.event(self.known.count or 0, private=source.private)

    @property
    def types(self) -> tuple[type, ...]:
        """Digits."""
        return (str,)

    @property
    def public(self) -> tuple[str, ...]:
        """Who there is, the size that was expected."""
        return ("whose sketches there are", "how many items a profile was expected to have")

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises
        from reticent.queries.profile_tables import declared

        return promises.neighbours_sketches(public=declared(self.known))

    def release(self, profiles: Profiles, source: Source) -> list[str]:
        """Hexadecimal digits for each person."""
        words = self.mechanism.publish(profiles, source).words
        return [row.astype("<u8").tobytes().hex() for row in words]


def published(answer: Answer) -> Published:
    """The filters of an answer, to be read."""
    import numpy as np

    from reticent.tasks.blip import Sketches as Published

    mechanism: Any = answer.terms.mechanism
    packed = b"".join(bytes.fromhex(sketch) for sketch in answer.value.values())
    words = np.frombuffer(packed, dtype="<u8").reshape(len(answer.value), -1).astype(np.uint64)
    return Published(words, answer.card.release_event(), mechanism)
