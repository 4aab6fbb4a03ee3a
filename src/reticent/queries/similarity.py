"""How alike people are, pair by pair.

Theory    docs/theory/similarity.md, Theorem 1 (a pair), Theorem 3 (many pairs), Theorem 4 (sizes)
Not here  the mechanism (tasks/similarity.py), the most similar of everybody (neighbours.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.errors import require
from reticent.queries.base import Pays, Progress, Public, Query, Shape, Terms
from reticent.queries.inputs import ITEMS, PEOPLE, PROFILES, Cells, Input, Role, Table
from reticent.queries.offering import Offering
from reticent.queries.options import BUDGET, at_least, choice, names, option, perhaps
from reticent.queries.trials import Comparison, Trial
from reticent.queries.worlds import World, item_worlds
from reticent.rational import Number, budget

if TYPE_CHECKING:
    from reticent.data.profiles import Profiles
    from reticent.guarantees import Event, PerItemDP
    from reticent.guarantees.card import Scope
    from reticent.noise import Source
    from reticent.queries.public_terms import PublicTerms
    from reticent.tasks.charged import Payer
    from reticent.tasks.comparing import Curves
    from reticent.tasks.similarity import Similarity as Compared

MEASURES = ("cosine", "overlap", "jaccard")
NORMS = ("private", "public", "none")
WEIGHTINGS = ("min", "product")
NORMS_HELP = (
    "Sizes of profiles: with noise; exact, which protects neither them nor that an item of weight "
    "0 is there; or none, for overlap.  [default: private, or none for overlap]"
)


@dataclass(frozen=True, kw_only=True)
class Similarity(Query):
    """How alike two people are, or each pair of a list.

    Items are private, and so is how many a person has; who is compared with whom is public. Each
    person pays for the people they are compared with. Every item counts by its weight.
    """

    kind: ClassVar[str] = "similarity"
    shape: ClassVar[Shape] = Shape.PER_PAIR
    pays: ClassVar[Pays] = Pays.PERSON
    counted: ClassVar[str] = "people that one is compared with at most"
    inputs: ClassVar[Mapping[str, Input]] = {
        "profiles": PROFILES,
        "pairs": Table(
            "Who is compared with whom; public.  [default: the one pair of the option]",
            {
                "person": Role(Cells.NAME, "One of the two.", aliases=("first",)),
                "other": Role(Cells.NAME, "The other one.", aliases=("second",)),
            },
            public=True,
            required=False,
        ),
        "people": PEOPLE,
        "items": ITEMS,
    }
    offering: ClassVar[Offering] = Offering(
        name="comparison",
        gets="noisy comparisons with other people",
        about="how alike you are to others",
        value={"type": "number"},
    )

    comparison: ClassVar[Comparison] = Comparison(
        reads=(),
        methods=("sizes-private", "sizes-public", "no-sizes"),
        unused=("pair", "norms", "weighting"),
        runs=None,
    )

    epsilon: Number = option(
        "What an item of weight 1 may lose in one comparison, to anybody.", BUDGET
    )
    pair: Sequence[str] | None = option(
        "Two people, where it is one pair.",
        perhaps(names("PERSON,OTHER", 2)),
        default=None,
        local=True,
    )
    measure: str = option("What to compute.", choice(*MEASURES), default="cosine")
    norms: str | None = option(NORMS_HELP, perhaps(choice(*NORMS)), default=None)
    weighting: str = option(
        "What a common item counts, given both weights.", choice(*WEIGHTINGS), default="min"
    )

    def check(self) -> None:
        """Two different people."""
        if self.pair is not None:
            require(self.pair[0] != self.pair[1], "pair", "one person", "two different people")

    @property
    def comparing(self) -> Compared:
        """The mechanism of one pair."""
        return comparison(self.epsilon, self.measure, self.norms, self.weighting)

    def terms(self, public: Public) -> SimilarityTerms:
        """See ``Query``."""
        pairs = self._pairs(public)
        peers = _peers(pairs)
        return SimilarityTerms(self, public, self.comparing, tuple(pairs), peers)

    def listed_elsewhere(self, public: Public, pairs: int, most: int) -> SimilarityTerms:
        """Terms where pairs are not listed here: so many, at most ``most`` of one person."""
        require(self.pair is None, "pair", "given", "left out with a table")
        require(pairs > 0, "pairs", "an empty table", "a table that names two people")
        return SimilarityTerms(self, public, self.comparing, (), {}, (pairs, most))

    def _pairs(self, public: Public) -> list[tuple[str, str]]:
        """Each pair once, as it was named first; known people only."""
        listed = public.tables.get("pairs")
        require(listed is None or self.pair is None, "pair", "given", "left out with a table")
        found = [] if self.pair is None else [(self.pair[0], self.pair[1])]
        if listed is not None:
            ends = (listed["person"].tolist(), listed["other"].tolist())
            found = [(a, b) for a, b in zip(*ends, strict=True) if a and b and a != b]
            require(bool(found), "pairs", "an empty table", "a table that names two people")
        require(bool(found) or public.names is None, "pair", None, "two people, or a table pairs")
        check_known({name for pair in found for name in pair}, public)
        return _once(found)

    def on_terms(self, provider: str, held: Mapping[str, Any]) -> PublicTerms:
        """Two people, who both pay."""
        from reticent.queries.public_terms import OTHER, PERSON, PairTerms, public_terms
        from reticent.tasks.terms import SimilarityTerms as Maths

        query = replace(self, pair=(PERSON, OTHER))
        terms: Any = public_terms(query, {**held, "people": [PERSON, OTHER]})
        return PairTerms(query, terms, Maths(query.comparing))

    def usual_method(self) -> str:
        """By how sizes enter."""
        return _by_sizes(self.comparing.norms)

    def curves(self, tables: Mapping[str, Any], trial: Trial) -> Curves:
        """The error of the overlap behind it, from the law of the noise."""
        from reticent.tasks.comparing import chosen_ways
        from reticent.tasks.comparing_similarity import similarity_curves

        norms = {_by_sizes(one): one for one in NORMS}
        known = ["no-sizes"] if self.measure == "overlap" else ["sizes-private", "sizes-public"]
        return similarity_curves(
            [
                comparison(epsilon, self.measure, norms[way], self.weighting)
                for way in chosen_ways(known, trial.methods)
                for epsilon in trial.values
            ]
        )

    def worlds(self) -> tuple[World, ...]:
        """An item of one of the two."""
        you, other = self.pair or ("you", "she")
        more = {} if self.pair else {"pairs": {"person": [you], "other": [other]}}
        return item_worlds(you, exchanged=self.norms == "public", more=more, other=other)

    def facts(self, tables: Mapping[str, Any]) -> Public:
        """Who there is, and who is compared."""
        from reticent.queries.profile_tables import everybody

        return everybody(tables)


def comparison(epsilon: Number, measure: str, norms: str | None, weighting: str) -> Compared:
    """The mechanism of one pair, by the options that queries share."""
    from reticent.tasks.similarity import Similarity as Compared

    usual = "none" if measure == "overlap" else "private"
    parts = 4 if (norms or usual) == "private" else 1  # a quarter is for the size
    at_least(budget(epsilon, "epsilon"), Fraction(parts, 1 << 30))
    return Compared(
        epsilon=epsilon,
        measure=measure,  # type: ignore[arg-type]
        norms=norms or usual,  # type: ignore[arg-type]
        weighting=weighting,  # type: ignore[arg-type]
    )


def compared(profiles: Profiles, names: Iterable[str]) -> Profiles:
    """The people who are compared, in the order of their names, whoever lists the pairs."""
    places = {name: place for place, name in enumerate(profiles.people)}
    return profiles.only([places[name] for name in sorted(names)])


def _by_sizes(norms: str) -> str:
    """What a method is called that treats sizes so."""
    return "no-sizes" if norms == "none" else f"sizes-{norms}"


def check_known(compared: Collection[str], public: Public) -> None:
    """Refuse people who are not there, once it is known who is."""
    missing = [] if public.names is None else sorted(set(compared).difference(public.names))
    rule = "people of the table or, if you declare them, of that list: who is in it is public"
    require(not missing, "pair", ", ".join(missing[:3]), rule)


def _once(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Each pair once, as it was named first, in the order of names."""
    import numpy as np

    names = sorted({name for pair in pairs for name in pair})
    places = {name: place for place, name in enumerate(names)}
    ends = np.array([(places[one], places[other]) for one, other in pairs], dtype=np.int64)
    ends = ends.reshape(-1, 2)
    keys = ends.min(axis=1) * len(names) + ends.max(axis=1)
    first = np.unique(keys, return_index=True)[1]
    kept = first[np.lexsort((ends[first, 1], ends[first, 0]))].tolist()
    return [pairs[place] for place in kept]


def _peers(pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """With how many others each person is compared."""
    found: dict[str, int] = {}
    for pair in pairs:
        for name in pair:
            found[name] = found.get(name, 0) + 1
    return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class SimilarityTerms(Terms):
    """A number for each pair of a public list."""

    query: Similarity
    known: Public
    mechanism: Compared  # type: ignore[assignment]  # one pair; it has all that terms ask for
    pairs: tuple[tuple[str, str], ...]
    peers: Mapping[str, int]
    elsewhere: tuple[int, int] | None = None
    columns: ClassVar[tuple[str, ...]] = ("person", "other", "similarity")

    def informed(self, query: Query, found: Public) -> Terms:
        """Who is compared is known already, if anybody is."""
        if not self.pairs:
            return query.terms(found)
        check_known(self.peers, found)
        return replace(self, known=found)

    @property
    def number(self) -> int:
        """How many pairs there are."""
        return len(self.pairs) if self.elsewhere is None else self.elsewhere[0]

    @property
    def most(self) -> int:
        """Of the people that one is compared with."""
        if self.elsewhere is not None:
            return self.elsewhere[1]
        return max(self.peers.values(), default=self.known.count or 1)

    @property
    def what(self) -> str:
        """In words."""
        measure = f"noisy {self.query.measure}"
        if len(self.pairs) == 1:
            return f"{measure} of {self.pairs[0][0]} and {self.pairs[0][1]}"
        return f"{measure} of {f'{self.number:,}' if self.number else 'some'} pairs of people"

    def loss(self) -> PerItemDP:
        """Of whoever is compared most often. Theorem 3."""
        return self.mechanism.guarantee(self.most)

    def event(self, source: Source) -> Event:
        """One pair is an event of the mechanism, several have one of their own."""
        return self.mechanism.pairs_event(self.most, private=source.private)

    def payers(self, limit: int | None) -> list[tuple[Payer, int]] | None:
        """Everybody who is compared, by the number of others."""
        from reticent.tasks.charged import Payer

        if not self.pairs:
            return None
        losses = {many: self.mechanism.guarantee(many).overall for many in set(self.peers.values())}
        return [
            (Payer(subject=name, limit=limit), losses[many]) for name, many in self.peers.items()
        ]

    @property
    def cautions(self) -> tuple[str, ...]:
        """What counts where there are no weights."""
        from reticent.queries.profile_tables import unweighted

        return unweighted(self.known)

    @property
    def public(self) -> tuple[str, ...]:
        """Who is compared with whom."""
        sizes = ("how many items each of them has",) if self.mechanism.norms == "public" else ()
        return ("who is compared with whom", *sizes)

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises
        from reticent.queries.profile_tables import declared

        return promises.similarity(norms=self.mechanism.norms, public=declared(self.known))

    def draw(self, tables: Mapping[str, Any], source: Source, progress: Progress) -> list[float]:
        """A score for each pair; sizes are drawn once for each person."""
        import numpy as np

        some = compared(tables["profiles"].profiles, self.peers)
        own = {name: place for place, name in enumerate(some.people)}
        first, second = (np.array([own[pair[end]] for pair in self.pairs]) for end in (0, 1))
        norms = self.mechanism.release_norms(some, source)
        noise = self.mechanism.pair_noise(source)
        found = self.mechanism.pairs(some, first, second, norms=norms, noise=noise)
        return [float(one) for one in found]

    def show(self, kept: list[float]) -> Any:
        """The number of the one pair, or a line for each."""
        if self.query.pair is not None:
            return kept[0]
        return [
            {"person": one, "other": other, "similarity": score}
            for (one, other), score in zip(self.pairs, kept, strict=True)
        ]

    def tables(self, kept: list[float]) -> Iterator[Any]:
        """All pairs, whose names are there already."""
        from reticent.tasks.batched import arrow

        ends = ([pair[end] for pair in self.pairs] for end in (0, 1))
        columns = [*(arrow().array(names, arrow().string()) for names in ends), kept]
        yield arrow().table(columns, names=list(self.columns))

    def rows(self, value: Any) -> list[tuple[Any, ...]]:
        """One for each pair, by name."""
        if self.query.pair is not None:
            return [(*self.pairs[0], value)]
        return [tuple(line.values()) for line in value]
