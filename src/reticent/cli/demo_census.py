"""The census of ``reticent demo``: a profile that hides income, a percentile, a decision tree.

Theory    docs/theory/mapping.md, Theorems 2 and 5 (profile); docs/theory/percentile.md;
          docs/theory/tree.md, Theorem 1
Not here  the other steps, the attack on them (demo_attacks.py).

The mapping is kept as a file that comes with the data: right after installation learning would
first have to be compiled, for some seconds. ``learn`` makes it anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.amounts import NANO
from reticent.cli.demo_club import CLUB
from reticent.cli.demo_tour import PUBLIC, Planned, Step, Tour
from reticent.data import ADULT_CATEGORIES, ADULT_SIZE, Table
from reticent.errors import require
from reticent.guarantees import RECORD_SUBSTITUTE, promises
from reticent.mechanisms import MappingLaw, ProfileMapping, Release
from reticent.mechanisms.tree import PrivateTree
from reticent.report.document import Picture, Section
from reticent.report.mapping_figures import mapping_figure
from reticent.report.tree_figures import tree_figure
from reticent.tasks.charged import Payer, answer_once, release_once
from reticent.tasks.columns import Column
from reticent.tasks.hidden_secrets import NEGLIGIBLE, kept_limits
from reticent.tasks.leakage import counted, secret_bits
from reticent.tasks.percentile import quantile, quantile_mechanism
from reticent.tasks.recoding import Alphabet, Measure, Recoding
from reticent.tasks.recoding_files import recoding_from_json
from reticent.tasks.trained_tree import Declared, TrainedTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.preferences import Preferences
    from reticent.tasks.learning import Learnt

PUBLIC_COLUMNS, SECRET = ("education", "marital-status", "sex"), "income"
AT_LEAST, LEAK_BITS = 50, 0.02  # people who share a profile; bits on average
RECORD = 5  # of the sample: stands for Ann's own profile
LIMIT = NANO  # what the sample may lose in all
OLDEST, SHARE = 100, 0.9  # declared without a look at the data
AGES = quantile_mechanism("0.1", lower=0, upper=OLDEST, step=1)
TREE = Declared(
    columns=(
        Column("education", categories=ADULT_CATEGORIES["education"]),
        Column("marital-status", categories=ADULT_CATEGORIES["marital-status"]),
        Column.numbers("hours-per-week", (0, 100), bins=10),
    ),
    classes=ADULT_CATEGORIES["income"],
    rows=50_000,
)


@cache
def mapping() -> Recoding:
    """The mapping that comes with the data."""
    file = resources.files("reticent.data") / "bundled" / "adult.mapping.json"
    return recoding_from_json(file.read_text(encoding="utf-8"))


def law(recoding: Recoding, people: Table) -> MappingLaw:
    """The mapping under the law of the sample, counted anew: the file does not hold it."""
    income = columns(people, [SECRET])
    counts, _ = counted(recoding, np.unique(income.astype(str))[:, None], rows(people), income)
    return recoding.under(counts[:, :-1])


def learn(people: Table) -> Learnt:
    """The mapping learnt anew: the least change of profiles that tells so little about income."""
    from reticent.tasks.learning import Limits, learn_mapping  # loads Numba

    alphabet = Alphabet.of(rows(people), columns(people, [SECRET])).at_least(AT_LEAST, Measure())
    limits = Limits(leak_bits=LEAK_BITS)
    return learn_mapping(alphabet, limits, columns=PUBLIC_COLUMNS, secret=SECRET)


def rows(people: Table) -> NDArray[Any]:
    """Everybody's profile: the columns that are released."""
    return columns(people, PUBLIC_COLUMNS)


def columns(people: Table, names: Sequence[str]) -> NDArray[Any]:
    """Columns of text side by side, one row per person."""
    found = np.empty((len(people), len(names)), dtype=object)
    for place, name in enumerate(names):
        found[:, place] = people[name]
    return found


@dataclass(frozen=True, slots=True)
class Changed:
    """Shares of people, by their profiles as they are: rare ones too, which the mapping lacks."""

    rare: float
    kept: float  # released as they are
    guessed: float  # whose income the true profile tells

    @classmethod
    def of(cls, recoding: Recoding, people: Table) -> Changed:
        """Counted over everybody."""
        alphabet = Alphabet.of(rows(people), columns(people, [SECRET]))
        held, places = alphabet.joint.sum(axis=0), recoding.places(alphabet.profiles)
        same = (recoding.profiles[places] == alphabet.profiles).all(axis=1)
        return cls(
            rare=float(held[~same].sum()),
            kept=float((held * keeping(recoding, alphabet.profiles)).sum()),
            guessed=float(alphabet.joint.max(axis=0).sum()),
        )


def keeping(recoding: Recoding, profiles: NDArray[Any]) -> NDArray[np.float64]:
    """The chance that each profile is released as it is; a rare one never is."""
    places = recoding.places(profiles)
    same = (recoding.profiles[places] == profiles).all(axis=1)
    channel = recoding.mechanism.channel
    stays = np.zeros(len(recoding.profiles))
    own = channel.inputs == recoding.mechanism.outs
    stays[channel.inputs[own]] = channel.chances[own]
    return np.where(same, stays[places], 0.0)


def planned() -> list[Planned]:
    """What the releases about the census would tell."""
    mechanism = mapping().mechanism
    unchanged = (
        f"{100 * mechanism.statement.unchanged:.0f} of 100 stay as they are, rare ones merged"
    )
    most = math.ceil(AGES.utility().within_95 or 0)
    off = f"within {most} of {ADULT_SIZE:,} ranks, 95 times in 100"
    return [
        Planned("Profile, hiding income", "-", f"{mechanism.bits:.2f} bits", unchanged),
        Planned.of("Percentile of ages", AGES, off),
        Planned.of("Decision tree", grower(), "noise in every choice and count"),
    ]


def grower() -> PrivateTree:
    """A small tree over three declared columns."""
    return TREE.mechanism(epsilon="0.5", depth=2, unit=RECORD_SUBSTITUTE)


def profile(tour: Tour) -> Step:
    """One person's record through the mapping."""
    recoding, wishes = mapping(), tour.preferences()
    found = law(recoding, tour.people())
    # the sample is public: its law is declared, and the card prints it
    prior = f"the counts of the {len(tour.people())} people of the sample, which is public"
    mechanism = ProfileMapping.under(found, SECRET, prior, recoding.measure.unit)
    _check_limit(recoding, wishes)
    person = rows(tour.people())[RECORD - 1].tolist()
    source = tour.source()
    event = mechanism.event(source)
    paid = answer_once(
        event,
        lambda: recoding.release(person, source).value,
        ledger=tour.ledger,
        payers=Payer(subject=tour.subject(f"record {RECORD} of Adult"), provider=CLUB),
    )
    whole: Release[Any] = Release(paid.value, event, mechanism)
    tour.cards["profile"] = whole.card(
        "A census profile that hides income",
        scope=promises.demo_profile(),
        budget=paid.budget,
        preferences=kept_limits(wishes),
        command=tour.command,
        made=tour.made,
    )
    before, after = mechanism.statement.guesses
    changed = Changed.of(recoding, tour.people())
    raw = changed.guessed
    often = float(keeping(recoding, rows(tour.people())[RECORD - 1 : RECORD])[0])
    luck = _luck(often, kept=list(paid.value) == person)
    lines = [
        f"Record {RECORD} stands for Ann: {', '.join(person)}.",
        f"Released to {CLUB}: {', '.join(paid.value)}.",
        luck,
        f"Who sees such a profile guesses income right {100 * after:.1f} times in 100: as often as "
        "who sees",
        f"none ({100 * before:.1f}), where the true profile gives {100 * raw:.1f}. "
        f"{100 * changed.kept:.0f} of 100 people keep theirs.",
    ]
    words = [
        f"A profile of {', '.join(PUBLIC_COLUMNS)} goes to {CLUB} and must not tell the income. "
        f"One that fewer than {AT_LEAST} people share ({100 * changed.rare:.0f} people in 100 have "
        "such a one) is first replaced by the nearest that is not rare. The mapping "
        "below says what each is then released as, with which chance; of all that tell at most "
        f"{LEAK_BITS} bits it changes profiles least. {100 * changed.kept:.0f} of 100 people keep "
        "their true profile.",
        f"The best guess of income is right {100 * before:.1f} times in 100 without any profile, "
        f"{100 * raw:.1f} with the true one, {100 * after:.1f} with a released one. This is an "
        "average over people, not a promise to each of them.",
        f"Record {RECORD}, which stands for Ann ({', '.join(person)}), was released as "
        f"{', '.join(paid.value)}. {luck} {PUBLIC}",
    ]
    labels = [", ".join(row) for row in recoding.profiles.tolist()]
    drawn = mapping_figure(mechanism.channel, labels, found.joint.sum(axis=0))
    caption = (
        f"The changes that most people make, of {len(labels)} profiles: each row is a true one, "
        "its chances of being released as another one sum to 1."
    )
    section = Section(
        title="Profile: a census record that does not tell the income",
        words=words,
        pictures=[Picture(drawn, caption)],
    )
    fields = {
        "profile": {
            "true": person,
            "released": list(paid.value),
            "leak_bits": mechanism.bits,
            "guesses": {"none": before, "true": raw, "released": after},
            "kept": changed.kept,
            "kept_for_her": often,
            "rare": changed.rare,
        }
    }
    return Step(lines=lines, fields=fields, section=section, cards=("profile",))


def _luck(often: float, *, kept: bool) -> str:
    """Whether a profile was released as it is, and how often that happens to it."""
    if often == 0:
        return "Changed: her profile tells too much of the income, and is never kept."
    times = f"{100 * often:.3g}"
    if kept:
        return f"Kept this time ({times} in 100 for her profile)."
    return f"Changed this time: her profile is kept {times} times in 100."


def _check_limit(recoding: Recoding, wishes: Preferences) -> None:
    told, limit = secret_bits(recoding)[SECRET], wishes.hide[SECRET]
    kept = Fraction(told) <= limit + NEGLIGIBLE
    require(kept, "leak_bits", float(limit), f"at least what the mapping tells, {told}")


def selections(tour: Tour) -> Step:
    """A percentile and a tree, both about the same people: their losses add up."""
    payer = Payer(subject=tour.subject("data set Adult"), limit=LIMIT)
    age, true = _percentile(tour, payer)
    trained = _tree(tour, payer)
    told = trained.text().splitlines()
    right = _accuracy(trained, tour.people())
    first = TREE.columns[int(trained.tree.column[0])].name
    lines = [
        f"The age that {100 * SHARE:.0f} in 100 are below: {age}; true: {true}.",
        f"A small decision tree that tells who earns more is right about {100 * right:.0f} of 100 "
        "people,",
        f"and asks first for {first}. The whole tree is in the report.",
    ]
    words = [
        f"The age that {100 * SHARE:.0f} of 100 people are below is released as {age}; it is "
        f"{true}. The tree below was grown with noise at every choice and in every count; it is "
        f"right about {100 * right:.1f} of 100 people of the sample. {PUBLIC}",
        "Both are about the same people, so their losses add up in one account.",
    ]
    caption = f"The tree as released: {len(TREE.columns)} declared columns, depth 2, ε 0.5."
    section = Section(
        title="Selection: a percentile and a decision tree",
        words=words,
        pictures=[Picture(tree_figure(trained, target="income"), caption)],
    )
    fields = {
        "percentile": {"share": SHARE, "released": age, "true": true},
        "tree": {"text": told, "right": right, **trained.plain()},
    }
    return Step(lines=lines, fields=fields, section=section, cards=("percentile", "tree"))


def _percentile(tour: Tour, payer: Payer) -> tuple[int, int]:
    ages = np.array(tour.people()["age"], dtype=np.float64)
    source = tour.source()
    event = AGES.event(source)
    options = {"lower": 0, "upper": OLDEST, "step": 1, "epsilon": AGES.epsilon}
    paid = answer_once(
        event,
        lambda: quantile(ages, SHARE, **options, source=source).value,
        ledger=tour.ledger,
        payers=payer,
    )
    tour.cards["percentile"] = Release(paid.value, event, AGES).card(
        f"The age that {100 * SHARE:.0f} in 100 are below",
        scope=promises.demo_census(),
        budget=paid.budget,
        command=tour.command,
        made=tour.made,
    )
    return paid.value, int(np.quantile(ages, SHARE, method="inverted_cdf"))


def _tree(tour: Tour, payer: Payer) -> TrainedTree:
    mechanism, coded = grower(), TREE.coded(*_table(tour.people()))
    paid = release_once(mechanism, coded, tour.source(), ledger=tour.ledger, payers=payer)
    trained = TrainedTree(TREE, paid.value.value)
    whole: Release[Any] = Release(trained.plain(), paid.value.event, mechanism)
    tour.cards["tree"] = whole.card(
        "A decision tree that tells who earns more",
        scope=promises.demo_census(),
        budget=paid.budget,
        command=tour.command,
        made=tour.made,
    )
    return trained


def _table(people: Table) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """The declared columns of everybody, and the class of each."""
    held = [np.array(people[column.name], dtype=object) for column in TREE.columns]
    return held, np.array(people[SECRET], dtype=object)


def _accuracy(trained: TrainedTree, people: Table) -> float:
    held, labels = _table(people)
    best = np.array(TREE.classes, dtype=object)[trained.shares(held).argmax(axis=1)]
    return float((best == labels).mean())
