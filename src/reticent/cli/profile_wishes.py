"""Whether a person's preferences allow a release through a mapping: to whom, and hiding what.

Not here  the command (profile.py), the preferences themselves (preferences/).

Whatever the preferences hide and the mapping does not is refused, and never only said.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from reticent.amounts import show_up
from reticent.cli.failures import Failure, Refusal
from reticent.cli.files import free_name
from reticent.cli.mapping_numbers import up
from reticent.cli.prefs import unusable
from reticent.cli.release import USUAL_PREFERENCES

if TYPE_CHECKING:
    from reticent.guarantees import card as cards
    from reticent.preferences import Preferences
    from reticent.tasks.recoding import Recoding

NEGLIGIBLE = Fraction(1, 10**9)  # bits: what solvers leave of nothing at all
_STRICTER = Path("stricter.json")  # the name of the mapping that would be allowed


def read_wishes(path: Path | None, provider: str | None) -> Preferences | None:
    """The preferences asked for, or the usual ones if they are there; who asks must be named."""
    from reticent.preferences import Preferences, PreferencesError

    if path is None and not USUAL_PREFERENCES.is_file():
        if provider is not None:
            why = "--preferences FILE says who may get what; without one nobody checks that"
            raise Failure("--provider goes with a preferences file, and there is none", why=why)
        return None
    file = USUAL_PREFERENCES if path is None else path
    try:
        wishes = Preferences.read(file)
    except PreferencesError as error:
        raise unusable(error, file) from None
    if provider is None:
        why = "--provider NAME says who gets the profile; who is not named there gets nothing"
        raise Failure(f"{file} says who may get something", why=why)
    wishes.grant(provider, attributes=())
    return wishes


@dataclass(frozen=True, slots=True)
class Asked:
    """A release that is asked for: which mapping, of which people, and whether they may be read."""

    recoding: Recoding
    mapping: Path
    people: Path
    readable: bool

    def cautions(self, wishes: Preferences | None) -> list[str]:
        """What the preferences leave open; a limit that is not kept is refused."""
        if wishes is None:
            return []
        from reticent.preferences.problems import amount
        from reticent.tasks.leakage import secret_bits

        own = secret_bits(self.recoding)
        released = {name.casefold() for name in self.recoding.columns}
        hidden = {name.casefold(): bits for name, bits in own.items()}
        for secret, limit in wishes.hide.items():
            key = secret.casefold()
            if key in released:
                why = f"the mapping {self.mapping} releases that very column"
                self._refuse(f"{wishes.file} hides {secret}", why, wishes)
            if key not in hidden:
                why = f"the mapping {self.mapping} was not made for it, and may tell all of it"
                self._refuse(f"{wishes.file} hides {secret}", why, wishes)
            if Fraction(hidden[key]) > limit + NEGLIGIBLE:
                what = f"{wishes.file} allows {amount(limit)} bits about {secret} to be told"
                why = f"the mapping {self.mapping} tells {up(hidden[key])} on average"
                self._refuse(what, why, wishes)
        listed = {secret.casefold() for secret in wishes.hide}
        return [
            f"{wishes.file} sets no limit for {name}: the mapping's own is kept"
            for name in own
            if name.casefold() not in listed
        ]

    def _refuse(self, what: str, why: str, wishes: Preferences) -> NoReturn:
        following, more = self._instead(wishes)
        raise Refusal(what, why=f"{why}{more}", next_command=following)

    def _instead(self, wishes: Preferences) -> tuple[str, str]:
        """The command that learns a mapping which keeps every limit; or why there is none."""
        from reticent.preferences.problems import amount
        from reticent.tasks.leakage import secret_bits

        limits = {secret: amount(limit) for secret, limit in wishes.hide.items()}
        listed = {secret.casefold() for secret in limits}
        for name, bits in secret_bits(self.recoding).items():
            if name.casefold() not in listed:
                limits[name] = show_up(max(bits, float(NEGLIGIBLE)))
        hidden = {secret.casefold() for secret in limits}
        columns = [name for name in self.recoding.columns if name.casefold() not in hidden]
        check = shlex.join(("reticent", "prefs", "check", wishes.file))
        missing = self._missing(list(limits))
        if missing:
            return check, f"; {self.people} has no column {missing}, so none can be made from it"
        if not columns:
            return check, "; no column would be left to release"
        return self._fit(limits, columns), ""

    def _missing(self, secrets: Sequence[str]) -> str:
        """A secret that the table does not hold, if it may be read."""
        from reticent.data.people_tables import read_people
        from reticent.errors import ReticentError

        if not self.readable:
            return ""
        try:
            held = {name.casefold() for name in read_people(self.people).columns}
        except (OSError, ReticentError):
            return ""  # what is wrong with it is said when people are released
        return next((name for name in secrets if name.casefold() not in held), "")

    def _fit(self, limits: dict[str, str], columns: Sequence[str]) -> str:
        recoding = self.recoding
        words = ["reticent", "fit", "mapping", str(self.people), "--secret", ",".join(limits)]
        words += ["--public", ",".join(columns)]
        widths = {name: width for name, width in recoding.widths.items() if name in columns}
        heavy = dict(zip(recoding.columns, recoding.measure.weights or (), strict=False))
        weights = {name: weight for name, weight in heavy.items() if name in columns}
        for option, amounts in (("--bins", widths), ("--weights", weights)):
            if amounts:
                words += [
                    option,
                    ",".join(f"{name}={value:.12g}" for name, value in amounts.items()),
                ]
        words += ["--leak", ",".join(f"{name}={bits}" for name, bits in limits.items())]
        return shlex.join([*words, "--out", str(free_name(_STRICTER))])


def kept_limits(wishes: Preferences | None) -> cards.Preferences | None:
    """That limits of [hide] were kept; what else they hide is nobody's to guess from a card."""
    from reticent.guarantees import card as cards

    if wishes is None or not wishes.hide:
        return None
    return cards.Preferences(withheld=0, public=True, others_change_your_risk=False)
