"""Whether a mapping hides what a person's preferences want hidden.

Not here  the preferences themselves (preferences/), mappings (recoding.py), what a mapping tells
          about each secret (leakage.py).

Whatever the preferences hide and the mapping does not is refused, and never only said.
"""

from __future__ import annotations

from fractions import Fraction

from reticent.errors import ReticentError
from reticent.guarantees import card as cards
from reticent.guarantees.average_numbers import up
from reticent.preferences import Preferences
from reticent.preferences.problems import amount
from reticent.tasks.leakage import secret_bits
from reticent.tasks.recoding import Recoding

NEGLIGIBLE = Fraction(1, 10**9)  # bits: what solvers leave of nothing at all


class NotHidden(ReticentError):
    """A release that preferences do not allow: ``what`` they want, ``why`` it is not kept."""

    def __init__(self, what: str, why: str, recoding: Recoding, wishes: Preferences) -> None:
        self.what, self.why, self.recoding, self.wishes = what, why, recoding, wishes
        super().__init__(f"{what}: {why}")

    def __reduce__(self) -> tuple[type[NotHidden], tuple[str, str, Recoding, Preferences]]:
        return NotHidden, (self.what, self.why, self.recoding, self.wishes)


def check_hidden(recoding: Recoding, wishes: Preferences) -> tuple[str, ...]:
    """What the preferences leave open; a limit that is not kept is refused."""
    own = secret_bits(recoding)
    released = {name.casefold() for name in recoding.columns}
    hidden = {name.casefold(): bits for name, bits in own.items()}
    for secret, limit in wishes.hide.items():
        key, what = secret.casefold(), f"{wishes.file} hides {secret}"
        if key in released:
            why = "the mapping releases that very column"
            raise NotHidden(what, why, recoding, wishes)
        if key not in hidden:
            why = "the mapping was not made for it, and may tell all of it"
            raise NotHidden(what, why, recoding, wishes)
        if Fraction(hidden[key]) > limit + NEGLIGIBLE:
            what = f"{wishes.file} allows {amount(limit)} bits about {secret} to be told"
            why = f"the mapping tells {up(hidden[key])} on average"
            raise NotHidden(what, why, recoding, wishes)
    listed = {secret.casefold() for secret in wishes.hide}
    return tuple(
        f"{wishes.file} sets no limit for {name}: the mapping's own is kept"
        for name in own
        if name.casefold() not in listed
    )


def kept_limits(wishes: Preferences | None) -> cards.Preferences | None:
    """That limits of [hide] were kept; what else they hide is nobody's to guess from a card."""
    if wishes is None or not wishes.hide:
        return None
    return cards.Preferences(withheld=0, public=True, others_change_your_risk=False)
