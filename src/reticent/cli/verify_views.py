"""What was verified, in words, as a table and as plain data: consequence first.

Not here  verifying (testing/), the command (verify.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from reticent.cli.output import say, say_json
from reticent.layout import table
from reticent.noise.enclosure import log
from reticent.preferences.problems import amount

if TYPE_CHECKING:
    from collections.abc import Hashable

    from reticent.testing.cases import Case
    from reticent.testing.exact import Verification, Witness
    from reticent.testing.leaks import Figure
    from reticent.testing.searched import Searched

ENUMERATED = "enumerated: every outcome on every pair of neighbours, in exact fractions"
AUDITED = "audited, not enumerated: a lower bound, no proof"
_WORDS = {
    "bits": "bits about the secret, on average",
    "maximal_bits": "bits at most, for any guess",
    "guesses": "chance of the best guess after the release",
    "distortion": "distortion, on average",
}
_SHORT = 10**6  # denominators that are shown


def enumerated_lines(case: Case, found: Verification) -> list[str]:
    """The verdict, how it was reached, and the worst case of each unit."""
    lines = [_verdict(case, found), ENUMERATED, ""]
    heads = ("unit", "verdict", "worst loss ", "claim ", "outcome", "on", "p ", "against", "q ")
    rows = [
        (
            str(unit),
            "BROKEN" if unit in found.broken else "holds",
            loss_words(witness, broken=unit in found.broken),
            claim_words(witness.claim),
            _label(witness.outcome),
            case.world.words(witness.pair.a),
            chance_words(witness.p),
            case.world.words(witness.pair.b),
            chance_words(witness.q),
        )
        for unit, witness in found.worst.items()
    ]
    return lines + table(heads, rows)


def _verdict(case: Case, found: Verification) -> str:
    if found.holds:
        claims = {witness.claim for witness in found.worst.values()}
        limit = f"ε {claim_words(max(claims))}" if len(claims) == 1 else "its unit's claim"
        return (
            f"holds: no outcome on any of {counted(found.pairs)} of neighbours loses more than "
            f"{limit}"
        )
    unit = found.broken[0]
    witness = found.worst[unit]
    others = f" (and {len(found.broken) - 1} more units)" if len(found.broken) > 1 else ""
    loss, claim = loss_words(witness, broken=True), claim_words(witness.claim)
    one, other = case.world.words(witness.pair.a), case.world.words(witness.pair.b)
    return (
        f"BROKEN: {unit} loses {loss}, claimed is {claim}: {_label(witness.outcome)} on {one} "
        f"against {other}{others}"
    )


def say_audited(
    case: Case, found: Mapping[Hashable, Searched], why: str, draws: int, *, as_json: bool
) -> None:
    """What an audit found, as a table or as one JSON object."""
    from reticent.queries.evaluate.verify import CONFIDENCE

    if not as_json:
        for line in audited_lines(case, found, why=why, draws=draws, confidence=CONFIDENCE):
            say(line)
        return
    refuted = any(one.audit.violated for one in found.values())
    say_json(
        "verify/1",
        name=case.name,
        method="audited",
        verdict="broken" if refuted else "not refuted",
        why=why,
        draws=draws,
        confidence=CONFIDENCE,
        units=[audit_json(case, unit, one) for unit, one in found.items()],
        figures=[],
    )


def audited_lines(
    case: Case, found: Mapping[Hashable, Searched], *, why: str, draws: int, confidence: float
) -> list[str]:
    """The verdict, that it proves nothing, and the audit of each unit."""
    broken = [unit for unit, one in found.items() if one.audit.violated]
    if broken:
        worst = found[broken[0]]
        first = (
            f"BROKEN: {broken[0]} loses at least {worst.audit.bound:.4f}, claimed is "
            f"{claim_words(worst.audit.claim)}: {worst.event} on {case.world.words(worst.pair.a)} "
            f"against {case.world.words(worst.pair.b)}"
        )
    else:
        first = "not refuted: the worst neighbours found do not lose more than is claimed"
    lines = [first, f"{AUDITED}; {draws:,} draws on each side, confidence {confidence:g}"]
    lines += [f"not enumerated because {why}", ""]
    heads = (
        *("unit", "verdict", "loss at least ", "claim ", "event"),
        *("on", "times ", "against", "times "),
    )
    rows = [
        (
            str(unit),
            "BROKEN" if one.audit.violated else "not refuted",
            f"{one.audit.bound:.4f}",
            claim_words(one.audit.claim),
            one.event,
            case.world.words(one.pair.a),
            f"{one.audit.hits[0]:,}",
            case.world.words(one.pair.b),
            f"{one.audit.hits[1]:,}",
        )
        for unit, one in found.items()
    ]
    return lines + table(heads, rows)


def figure_lines(figures: tuple[Figure, ...]) -> list[str]:
    """What a mapping tells on average, recomputed."""
    wrong = [figure for figure in figures if not figure.holds]
    claimed = sum(figure.claim is not None for figure in figures)
    first = f"holds: all {claimed} claims, recomputed in exact fractions"
    if not claimed:
        first = "recomputed in exact fractions, and nothing is claimed of it"
    if wrong:
        worst = wrong[0]
        assert worst.claim is not None  # noqa: S101, or it would hold
        first = f"BROKEN: {_WORDS[worst.name]}: {worst.shown}, claimed is {float(worst.claim):.12g}"
    rows = [
        (
            _WORDS[figure.name],
            "not claimed" if figure.claim is None else "holds" if figure.holds else "BROKEN",
            figure.shown,
            "" if figure.claim is None else f"{float(figure.claim):.12g}",
        )
        for figure in figures
    ]
    return [first, "", *table(("what", "verdict", "exact ", "claim "), rows)]


def unit_json(case: Case, unit: Hashable, witness: Witness, broken: bool) -> dict[str, Any]:
    """One unit of an enumeration as plain data."""
    return {
        "unit": str(unit),
        "holds": not broken,
        "loss": witness.loss,
        "claim": str(witness.claim),
        "outcome": _label(witness.outcome),
        "on": case.world.words(witness.pair.a),
        "against": case.world.words(witness.pair.b),
        "p": str(witness.p) if witness.p.denominator <= _SHORT else float(witness.p),
        "q": str(witness.q) if witness.q.denominator <= _SHORT else float(witness.q),
    }


def audit_json(case: Case, unit: Hashable, one: Searched) -> dict[str, Any]:
    """One unit of an audit as plain data."""
    return {
        "unit": str(unit),
        "refuted": one.audit.violated,
        "loss_at_least": one.audit.bound,
        "claim": str(one.audit.claim),
        "event": one.event,
        "hits": list(one.audit.hits),
        "on": case.world.words(one.pair.a),
        "against": case.world.words(one.pair.b),
    }


def figure_json(figure: Figure) -> dict[str, Any]:
    """One figure of a mapping as plain data."""
    claim = None if figure.claim is None else float(figure.claim)
    return {"name": figure.name, "exact": figure.shown, "claim": claim, "holds": figure.holds}


def loss_words(witness: Witness, *, broken: bool) -> str:
    """A loss to 12 decimals; rounded up where it would else seem to be within its claim."""
    if witness.q == 0:
        return "infinite"
    near = Fraction(round(log(witness.p / witness.q, 128)[1] * 10**12), 10**12)
    if broken and near <= witness.claim:
        return _short(Decimal(witness.loss))
    return _short(Decimal(int(near * 10**12)).scaleb(-12))


def counted(pairs: int) -> str:
    """So many pairs."""
    return f"{pairs:,} pair{'' if pairs == 1 else 's'}"


def _short(decimal: Decimal) -> str:
    plain = f"{decimal:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def claim_words(claim: Fraction) -> str:
    """A claim as a decimal if it is one, else rounded down to 12 digits."""
    rest = claim.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    exact = rest == 1 and claim.denominator < 10**15
    return amount(claim) if exact else f"{float(claim):.12g}"


def chance_words(chance: Fraction) -> str:
    """A probability as a fraction if that is short, else to six digits."""
    return str(chance) if chance.denominator <= _SHORT else f"{float(chance):.6g}"


def _label(outcome: Any) -> str:
    return " ".join(map(str, outcome)) if isinstance(outcome, tuple) else str(outcome)
