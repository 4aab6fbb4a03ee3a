"""A learnt mapping as text and as JSON, what must be said about it, and how its file is read.

Not here  the command that learns it (mapping.py), pictures (report/mapping_figures.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.amounts import show_up
from reticent.cli.failures import Failure, reason
from reticent.cli.output import table
from reticent.guarantees.card_facts import printable

if TYPE_CHECKING:
    from reticent.tasks.learning import Learnt
    from reticent.tasks.recoding import Recoding

CERTIFIED = 1e-3  # of what untouched profiles tell: the gap that a search is asked for
FEW = 10  # people: a profile of fewer is rare
_BIASED = 0.1  # of the plain estimate
_CROWD = 5  # people per profile, below which counts say little
_FITTED = "reticent fit mapping PEOPLE.csv --secret COLUMN --delta 0.05 --out MAPPING.json"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What a mapping tells about people it was not learnt from, in bits, counted among them."""

    people: int
    left_out: int
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A learnt mapping and how it came about; ``stopped`` is why a search ended early, if it did.

    ``rare`` is how many profiles fewer than ``FEW`` people had, ``by_leak`` whether the leak was
    limited and the change made least, ``exponential`` the distortion that the exponential
    mechanism needs for the same leak.
    """

    learnt: Learnt
    secrets: tuple[str, ...]
    people: int
    without_secret: int
    rare: int
    at_least: int
    epsilon: float | None
    by_leak: bool
    stopped: str
    exponential: float | None
    held_out: HeldOut | None

    @property
    def kept(self) -> float:
        """The share of people whose profile is released as it is."""
        mechanism = self.learnt.recoding.mechanism
        channel = mechanism.channel
        same = channel.chances * (channel.outs == channel.inputs)
        return float(mechanism.joint.sum(axis=0)[channel.inputs] @ same)

    @property
    def guesses(self) -> tuple[float, float, float]:
        """How often the best guess is right: without a profile, from the true one, a released."""
        mechanism = self.learnt.recoding.mechanism
        before, after = mechanism.guess_rates()
        return before, float(mechanism.joint.max(axis=0).sum()), max(before, after)

    @property
    def least_bits(self) -> float:
        """No mapping of this distortion tells less."""
        return self.learnt.solution.bound / math.log(2)

    @property
    def certified(self) -> bool:
        """Whether the search ended with the proof it was asked for."""
        return self.learnt.solution.relative_gap <= CERTIFIED * (1 + 1e-9)


def fitted_lines(fitted: Fitted) -> list[str]:
    """Consequences first, then what was reached and how good it is."""
    learnt, recoding = fitted.learnt, fitted.learnt.recoding
    secret = printable(recoding.mechanism.secret)
    nothing, true, released = (show_up(100 * chance, 3) for chance in fitted.guesses)
    columns = ", ".join(map(printable, recoding.columns))
    rows = [
        (f"told about {secret}, as profiles are", _before(learnt)),
        ("told by a released profile", f"{show_up(learnt.leak_bits)} bits, on average"),
        *_least(fitted),
        ("changed on average", _changed(fitted)),
        ("released as they are", f"{100 * fitted.kept:.3g} of 100 people"),
        ("a profile may become", _support(recoding)),
        *_floor(fitted),
        *_comparison(fitted),
        *_elsewhere(fitted),
    ]
    width = max(len(head) for head, _ in rows)
    return [
        f"Hides {secret} in profiles of {columns}",
        f"{fitted.people} people, {len(recoding.profiles)} different profiles",
        "",
        f"The best guess of {secret} is right for {nothing} of 100 people without any profile, "
        f"for {true} from the profile as it is, for {released} from a released one.",
        "",
        *(f"{head.ljust(width)}  {told}" for head, told in rows),
    ]


def _before(learnt: Learnt) -> str:
    corrected = f"{learnt.corrected_bits:.4g} after correcting for few people per profile"
    return f"{learnt.untouched_bits:.4g} bits ({corrected})"


def _least(fitted: Fitted) -> list[tuple[str, str]]:
    if fitted.epsilon is not None:
        return []  # the bound is that of mappings without a floor
    gap = f"{100 * fitted.learnt.solution.relative_gap:.2g} %"
    how = f"proved to within {gap}" if fitted.certified else f"not certified, gap {gap}"
    if fitted.least_bits <= 0 and not fitted.certified:
        return [("no such mapping tells less than", f"not proved yet (gap {gap})")]
    return [("no such mapping tells less than", f"{fitted.least_bits:.4g} bits ({how})")]


def _changed(fitted: Fitted) -> str:
    recoding = fitted.learnt.recoding
    share, columns = fitted.learnt.distortion, len(recoding.columns)
    weighted = recoding.measure.weights is not None
    by = "by weight" if weighted else f"{share * columns:.2g} of {columns} columns"
    moved = fitted.learnt.alphabet.moved
    more = f", and {show_up(100 * moved, 3)} % by rare profiles" if moved else ""
    return f"{show_up(100 * share, 3)} % of a profile ({by}){more}"


def _support(recoding: Recoding) -> str:
    counts = recoding.mechanism.channel.support
    return f"one of {int(counts.max())} at most, of {float(counts.mean()):.3g} on average"


def _floor(fitted: Fitted) -> list[tuple[str, str]]:
    if fitted.epsilon is None:
        return []
    worst = fitted.learnt.recoding.mechanism.worst_case_epsilon()
    cost = show_up(100 * max(fitted.learnt.cost_of_epsilon, 0.0), 3)
    return [("in the worst case", f"epsilon {show_up(worst)}; {cost} % of the change is for this")]


def _comparison(fitted: Fitted) -> list[tuple[str, str]]:
    if fitted.exponential is None:
        return []
    ours = fitted.learnt.distortion
    times = f", {fitted.exponential / ours:.2g} times as much" if ours > 0 else ""
    told = f"would change {100 * fitted.exponential:.3g} %{times}, to tell as little"
    return [("the exponential mechanism", told)]


def _elsewhere(fitted: Fitted) -> list[tuple[str, str]]:
    held = fitted.held_out
    if held is None:
        return []
    told = f"{held.before:.4g} bits as they are, {held.after:.4g} released"
    return [(f"{held.people} people held out", f"{told}; counts of few people are too high")]


def fitted_notes(fitted: Fitted) -> list[str]:
    """What has to be known before the file is used or given away."""
    learnt = fitted.learnt
    notes = [*_stopped(fitted)]
    if fitted.without_secret:
        notes.append(f"{fitted.without_secret} people without a value of the secret were left out")
    plain, corrected = learnt.untouched_bits, learnt.corrected_bits
    crowd = fitted.people / len(learnt.recoding.profiles)
    if plain - corrected > _BIASED * plain or crowd < _CROWD:
        notes.append(
            f"there are too few people per profile ({crowd:.2g} on average) to know well how "
            "profiles and secret go together: the figures are those of these people, others may "
            "lose more. Fewer columns (--public), ranges of numbers (--bins) or --at-least help"
        )
    file = "the file is learnt from these people's data and is no differentially private release"
    if fitted.rare and fitted.at_least < FEW:
        file += (
            f": {fitted.rare} profiles in it are those of fewer than {FEW} people; "
            f"--at-least {FEW} leaves them out"
        )
    notes.append(file)
    notes.append(
        "the promise is an average over people like these, for one release each, and about "
        f"{printable(learnt.recoding.mechanism.secret)} only; about some it can tell more"
    )
    return notes


def _stopped(fitted: Fitted) -> list[str]:
    gap = f"certified gap {100 * fitted.learnt.solution.relative_gap:.2g} %"
    if fitted.stopped:
        more = ", and profiles may change more than they need to" if fitted.by_leak else ""
        return [f"{fitted.stopped}: best so far, {gap}{more}; --seconds gives more time"]
    if not fitted.certified:
        return [f"the search ended without the proof it was asked for: {gap}"]
    return []


def fitted_fields(fitted: Fitted) -> dict[str, Any]:
    """A learnt mapping for JSON."""
    learnt, recoding = fitted.learnt, fitted.learnt.recoding
    nothing, true, released = fitted.guesses
    counts, held = recoding.mechanism.channel.support, fitted.held_out
    worst = recoding.mechanism.worst_case_epsilon()
    return {
        "secret": list(fitted.secrets),
        "columns": list(recoding.columns),
        "widths": dict(recoding.widths),
        "people": fitted.people,
        "without_secret": fitted.without_secret,
        "profiles": len(recoding.profiles),
        "rare_profiles": fitted.rare,
        "right_guesses": {"no_profile": nothing, "profile": true, "released": released},
        "bits": {
            "untouched": learnt.untouched_bits,
            "corrected": learnt.corrected_bits,
            "released": learnt.leak_bits,
            "at_least": fitted.least_bits if fitted.epsilon is None else None,
        },
        "relative_gap": learnt.solution.relative_gap,
        "certified": fitted.certified,
        "stopped": fitted.stopped or None,
        "distortion": learnt.distortion,
        "moved": learnt.alphabet.moved,
        "kept": fitted.kept,
        "becomes": {"most": int(counts.max()), "mean": float(counts.mean())},
        "worst_case_epsilon": worst if math.isfinite(worst) else None,
        "exponential_distortion": fitted.exponential,
        "held_out": None
        if held is None
        else {
            "people": held.people,
            "left_out": held.left_out,
            "untouched": held.before,
            "released": held.after,
        },
        "sha256": recoding.mechanism.sha256,
        "notes": fitted_notes(fitted),
    }


def read_mapping(path: Path) -> Recoding:
    """The mapping in a file; one that was changed, cut or is something else is refused."""
    from reticent.errors import ParameterError
    from reticent.tasks.recoding_files import recoding_from_json

    try:
        return recoding_from_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(f"{path} cannot be read", why=reason(error), next_command=_FITTED) from None
    except UnicodeDecodeError:
        why = "it is not text in UTF-8"
    except ParameterError as error:
        why = str(error)
    except RecursionError:
        why = "it is nested too deeply"
    raise Failure(f"{path} is no mapping that can be used", why=why, next_command=_FITTED)


def secret_names(recoding: Recoding) -> tuple[str, ...]:
    """The columns that a mapping hides; a name of another origin counts as one."""
    names = tuple(name.strip() for name in recoding.mechanism.secret.split(","))
    return names if len(names) == recoding.secrets.shape[1] else (recoding.mechanism.secret,)


def secret_bits(recoding: Recoding) -> dict[str, float]:
    """Bits that a release tells about each secret, rounded up."""
    from reticent.tasks.leakage import leaks

    names, mechanism = secret_names(recoding), recoding.mechanism
    if len(names) == 1:
        return {names[0]: mechanism.bits}
    own = leaks(mechanism.channel, mechanism.joint, recoding.secrets)
    return {name: float(bits) * (1 + 1e-12) for name, bits in zip(names, own, strict=True)}


def profile_lines(columns: tuple[str, ...], values: tuple[str, ...] | None) -> list[str]:
    """One released profile as a table."""
    told = [("withheld")] * len(columns) if values is None else [printable(v) for v in values]
    return table(("attribute", "released"), list(zip(map(printable, columns), told, strict=True)))
