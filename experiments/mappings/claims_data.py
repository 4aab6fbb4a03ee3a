"""Claims about what leaks from the census and from films, and to whom.

Not here  claims about the algorithm (claims_method.py).

Where a ratio is claimed, either reading of the paper's census may reach it.
"""

from __future__ import annotations

from collections.abc import Callable

from experiments.harness import OPEN, Verdict, verdict
from experiments.mappings.anatomy import TABLE_1
from experiments.mappings.attacks import BEST, FITTED, RAW, RELEASED, UNTOUCHED
from experiments.mappings.curves import EXPONENTIAL, MAPPING, PERFECT
from experiments.mappings.priors import CORRECTED, HELD_OUT, PROMISED
from experiments.mappings.results import Results

BAYES, LOGISTIC = "naive Bayes", "logistic regression"


def half_a_unit(t: Results) -> Verdict:
    """What leaks before anything is changed."""
    bits, nats = (t.get("untouched", t.census, "I(A; B)", unit) for unit in ("bits", "nats"))
    row = t.row("sampled", t.data("sampled")[0], "I(A; B)", "nats")
    ours = (
        f"{bits:.3f} bits ({nats:.3f} nats); 300 records drawn at random: {row.value:.2f} nats "
        f"({row.low:.2f} to {row.high:.2f})"
    )
    good = min(abs(bits - 0.5), abs(nats - 0.5)) < 0.05
    sample = (row.low or 0.0) <= 0.5 <= (row.high or 0.0)
    claim = "Census, 300 most probable tuples: 0.5 leaks when nothing is changed"
    return Verdict(claim, "4.3, Fig. 2", "0.5", ours, verdict(good, sample))


def census_distortion(t: Results) -> Verdict:
    """How much must be changed on the census."""
    found = [t.get("needed", name, MAPPING, 0.14) for name in (t.census, t.sample)]
    ours = f"to 14 %: {found[0]:.3f} (most probable), {found[1]:.3f} (300 records)"
    claim = "Census: a distortion of 0.05 takes the leak from 0.5 to 0.07"
    good = [value <= 0.055 for value in found]
    return Verdict(claim, "4.3", "0.05", ours, verdict(all(good), any(good)))


def eight_times(t: Results) -> Verdict:
    """And by the exponential mechanism."""
    found = [t.get("times", name, EXPONENTIAL, 0.14) for name in (t.census, t.sample)]
    early = [t.get("times", name, EXPONENTIAL, 0.5) for name in (t.census, t.sample)]
    ours = (
        f"at 14 % of the leak {found[0]:.1f} and {found[1]:.1f} times (most probable, records); "
        f"at half of it {early[0]:.1f} and {early[1]:.1f}"
    )
    claim = "Census: the exponential mechanism needs more than 8 times the distortion"
    good = max(found) >= 8
    return Verdict(claim, "4.3", "8", ours, verdict(good, max(*found, *early) >= 7.2))


def much_better(t: Results) -> Verdict:
    """The other way round: at equal distortion."""
    sets = (t.census, t.sample, t.films)
    pairs = [
        (t.get("left", s, MAPPING, x), t.get("left", s, EXPONENTIAL, x))
        for s in sets
        for x in (0.05, 0.1)
    ]
    ours = "; ".join(
        f"{s}: {t.get('left', s, MAPPING, 0.05):.0%} against "
        f"{t.get('left', s, EXPONENTIAL, 0.05):.0%}"
        for s in sets
    )
    claim = "At equal distortion much less leaks than by the exponential mechanism"
    good = all(mine < 0.6 * other for mine, other in pairs)
    return Verdict(claim, "4.3, Fig. 2", "yes", f"left at 0.05: {ours}", verdict(good))


def films(t: Results) -> Verdict:
    """The same for films."""
    mine, other, times = (
        t.get("needed", t.films, MAPPING, 0.083),
        t.get("needed", t.films, EXPONENTIAL, 0.083),
        t.get("times", t.films, EXPONENTIAL, 0.083),
    )
    ours = f"to 8.3 %: {mine:.3f} against {other:.3f}, {times:.1f} times ({t.films})"
    claim = "Films: 0.03 takes the leak from 0.6 to 0.05, the exponential mechanism needs 0.17"
    good = abs(mine - 0.03) <= 0.01 and times >= 5.5
    return Verdict(claim, "4.3", "6 times", ours, verdict(good, times >= 5.5))


def perfect(t: Results) -> Verdict:
    """The right end of the curves."""
    claim = "Perfect or near-perfect privacy at a small distortion"
    found = {n: t.get("needed", n, MAPPING, 0.05) for n in (t.census, t.sample, t.films)}
    ours = "5 % left: " + "; ".join(f"{n}: {v:.3f}" for n, v in found.items())
    ends = {n: t.get(PERFECT, n, MAPPING, "distortion") for n in t.data(PERFECT)}
    if ends:
        ours += ". Nothing: " + "; ".join(f"{n}: {v:.3f}" for n, v in ends.items())
    one = 1 / 7  # of the census' columns
    good = max([*found.values(), *ends.values()]) < one
    return Verdict(claim, "4.3", "yes", f"{ours} (one column of the census: 0.143)", verdict(good))


def bounded(t: Results) -> Verdict:
    """Section 4.2."""
    most = max(t.get("promise", n, EXPONENTIAL, "leak / (2 beta d)") for n in t.data("promise"))
    claim = "The exponential mechanism leaks at most 2 β max d (nats)"
    ours = f"at most {most:.2f} of it"
    return Verdict(claim, "4.2", "yes", ours, verdict(most <= 1))


def _auc(t: Results, data: str, series: str, attacker: str, x: object) -> float:
    return t.get("AUC", data, f"{series}: {attacker}", x)


def _told(t: Results, data: str, attacker: str, x: object) -> tuple[str, dict[str, float]]:
    areas = {UNTOUCHED: _auc(t, data, UNTOUCHED, f"{attacker}, trained on {RAW}", 0.0)}
    for series in (MAPPING, EXPONENTIAL):
        areas[series] = _auc(t, data, series, f"{attacker}, trained on {RELEASED}", x)
    best = _auc(t, data, MAPPING, BEST, x)
    told = ", ".join(f"{name} {area:.3f}" for name, area in areas.items())
    apart = _auc(t, data, FITTED, f"{attacker}, trained on {RELEASED}", x)
    told += f"; mapping made from other people {apart:.3f}"
    return f"AUC of {attacker}: {told}; any attacker on the mapping {best:.3f}", areas


def _roc(t: Results, where: int, claim: str, good: Callable[[dict[str, float]], bool]) -> Verdict:
    xs = t.xs("AUC", t.census, f"{MAPPING}: {BEST}")
    if len(xs) < 3:
        return Verdict(claim, "4.3, Fig. 3", "yes", "not run", OPEN)
    ours, areas = _told(t, t.census, BAYES, xs[where])
    return Verdict(claim, "4.3, Fig. 3", "yes", f"{ours} (0.5: blind)", verdict(good(areas)))


def roc_small(t: Results) -> Verdict:
    """Figure 3, left."""
    claim = "Census at 0.02: both help modestly, the mapping more"
    return _roc(
        t,
        0,
        claim,
        lambda a: 0.6 < a[MAPPING] < a[EXPONENTIAL] - 0.01 and a[MAPPING] < a[UNTOUCHED],
    )


def roc_middle(t: Results) -> Verdict:
    """Figure 3, middle."""
    claim = "Census at 0.14: the mapping makes the classifier all but blind, the other does not"
    return _roc(t, 1, claim, lambda a: a[MAPPING] < 0.55 and a[EXPONENTIAL] > 0.6)


def roc_large(t: Results) -> Verdict:
    """Figure 3, right."""
    claim = "Census at 0.44: all make it blind"
    return _roc(t, 2, claim, lambda a: max(a[MAPPING], a[EXPONENTIAL]) < 0.6)


def roc_films(t: Results) -> Verdict:
    """Figure 4."""
    xs = t.xs("AUC", t.films, f"{MAPPING}: {BEST}")
    found = [_told(t, t.films, LOGISTIC, x)[1] for x in xs]
    text = "; ".join(
        f"{x}: {a[MAPPING]:.3f} against {a[EXPONENTIAL]:.3f}"
        for x, a in zip(xs, found, strict=True)
    )
    before = found[0][UNTOUCHED]
    claim = "Films: the mapping weakens logistic regression more than the exponential mechanism"
    better = [a[MAPPING] < a[EXPONENTIAL] for a in found]
    fitted = [_auc(t, t.films, FITTED, f"{LOGISTIC}, trained on {RELEASED}", x) for x in xs]
    honest = [f < a[EXPONENTIAL] for f, a in zip(fitted, found, strict=True)]
    apart = ", ".join(f"{area:.3f}" for area in fitted)
    ours = f"AUC {before:.3f} before; {text} ({t.films}); mapping made from other people: {apart}"
    good = all(better) and all(honest)
    return Verdict(claim, "4.3, Fig. 4", "yes", ours, verdict(good, any(better)))


def agnostic(t: Results) -> Verdict:
    """All attackers."""
    over = []
    for key, row in t.held.items():
        if key[0] == "AUC" and key[2].startswith(MAPPING) and BEST not in key[2]:
            best = t.get("AUC", key[1], f"{MAPPING}: {BEST}", key[3])
            over.append((row.low if row.low is not None else row.value) - best)
    claim = "Whatever the attacker, the mapping holds"
    ours = f"no attacker's interval begins above the exact Bayes rule (nearest: {max(over):+.3f})"
    return Verdict(claim, "1, 2", "agnostic", ours, verdict(max(over) <= 0))


def threats(t: Results) -> Verdict:
    """Table 1, before."""
    parts, good = [], []
    for name in (t.census, t.sample):
        before = {c: t.get("features", name, c, "before") for c in TABLE_1}
        order = sorted(before, key=lambda c: -before[c])[:3]
        good.append(set(order) == {"education", "marital-status", "occupation"})
        parts.append(f"{name}: " + ", ".join(f"{c} {before[c]:.3f}" for c in order))
    claim = "Education, marital status and occupation tell most"
    return Verdict(claim, "4.3, Tab. 1", "yes", "; ".join(parts), verdict(all(good), any(good)))


def largest_cut(t: Results) -> Verdict:
    """Table 1, before and after."""
    parts, good = [], []
    for name in (t.census, t.sample):
        both = {
            c: [t.get("features", name, c, when) for when in ("before", "after")] for c in TABLE_1
        }
        cuts = sorted(both, key=lambda c: both[c][1] - both[c][0])[:3]
        threats = sorted(both, key=lambda c: -both[c][0])[:3]
        good.append(set(cuts) == set(threats))
        parts.append(
            f"{name}: " + ", ".join(f"{c} {both[c][0]:.3f} to {both[c][1]:.3f}" for c in cuts)
        )
    claim = "The features that tell most lose most"
    return Verdict(claim, "4.3, Tab. 1", "yes", "; ".join(parts), verdict(all(good), any(good)))


def country(t: Results) -> Verdict:
    """Table 1, the alphabet it cannot be of."""
    top = t.get("features", t.census, "native-country", "before")
    name = t.data("sampled")[0]
    row = t.row("sampled", name, "native-country", "before")
    off = {c: t.get("sampled", name, c, "paper off, in sd") for c in TABLE_1}
    far = sum(value > 2 for value in off.values())
    ours = (
        f"{top:.4f}: all 300 are from the United States; 300 records at random "
        f"{row.value:.3f} ({row.low:.3f} to {row.high:.3f}); of the column, {7 - far} of 7 within "
        "two standard deviations of such samples"
    )
    claim = "Census, 300 most probable: country tells 0.047 bits"
    return Verdict(claim, "4.3, Tab. 1", "0.047", ours, verdict(abs(top - 0.047) < 0.01, far == 0))


def together(t: Results) -> Verdict:
    """The table of films that is missing in the paper."""
    columns = t.series("features", t.films)
    alone = [t.get("features", t.films, c, "before") for c in columns]
    claim = "Films: single features tell little, all together much"
    if not t.has("all features", t.films):
        whole = t.get("untouched", t.films, "I(A; B)", "bits")
        ours = f"largest {max(alone):.3f}, all {whole:.3f} bits ({t.films})"
        return Verdict(claim, "4.3", "yes", ours, verdict(whole > 3 * max(alone)))
    plain, corrected = (t.get("all features", t.films, s) for s in ("plug-in", "corrected"))
    ours = (
        f"largest {max(alone):.3f}, sum {sum(alone):.2f}; all {plain:.2f} bits as counted, "
        f"{corrected:.2f} less what dealt secrets would seem to tell"
    )
    good = [value > 3 * max(alone) for value in (corrected, plain)]
    return Verdict(claim, "4.3", "yes", ours, verdict(all(good), any(good)))


def for_users(t: Results) -> Verdict:
    """Whom the promise is for."""
    parts, good = [], []
    for name in t.data("halves"):
        promised, met, less = (
            t.get("halves", name, MAPPING, x) for x in (PROMISED, HELD_OUT, CORRECTED)
        )
        whole = t.get("halves", name, UNTOUCHED, CORRECTED)
        parts.append(
            f"{name}: {promised:.3f} promised, {met:.3f} met, {less:.3f} less chance, "
            f"of {whole:.3f}"
        )
        good.append(less <= 1.1 * promised)
    claim = "The leak found for the law is that of users"
    ours = "bits on people that the mapping has not seen: " + "; ".join(parts)
    return Verdict(claim, "2", "implied", ours, verdict(all(good), any(good)))
