"""For everybody the most similar others.

Theory    docs/theory/neighbours.md, Theorem 2 (the loss); docs/theory/blip.md, Theorem 2;
          docs/theory/clustering.md, Theorems 1 and 2
Not here  what each method loses and says (neighbour_methods.py), the mathematics (tasks/).

From sketches that were released it costs nothing; from profiles everybody pays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.amounts import NANO
from reticent.errors import ParameterError, require
from reticent.queries import ranked
from reticent.queries.base import Pays, Progress, Public, Query, Shape, Terms
from reticent.queries.evaluable import LOUD
from reticent.queries.inputs import ITEMS, PEOPLE, PROFILES, Artefact, Input
from reticent.queries.offering import Offering
from reticent.queries.options import BUDGET, SHARE, Option, choice, count, option, perhaps
from reticent.queries.similarity import MEASURES, NORMS, NORMS_HELP, WEIGHTINGS, comparison
from reticent.queries.sketches import SIZE_HELP
from reticent.queries.trials import Comparison, Trial
from reticent.queries.worlds import World, item_worlds
from reticent.rational import Number

if TYPE_CHECKING:
    from reticent.guarantees import Event, PerItemDP
    from reticent.guarantees.card import Evidence, How, Scope, Utility
    from reticent.guarantees.loss_words import LossWords
    from reticent.noise import Source
    from reticent.queries.neighbour_methods import Method
    from reticent.queries.plans import Details
    from reticent.tasks.charged import Payer
    from reticent.tasks.comparing import Curves
    from reticent.tasks.scattering import Scatter

MUCH = 5 * NANO
"""Nano-epsilon above which a promise to all others together is little."""
SKETCHES = Artefact(
    "sketches", "Sketches that `reticent release sketches --out` wrote.", required=False
)


@dataclass(frozen=True, kw_only=True)
class Neighbours(Query):
    """For everybody the k most similar others.

    By sketches: of profiles, everybody's are drawn and paid for; of sketches that were released,
    this costs nothing. Or by comparing everybody with everybody (direct), or with whom they meet
    (gossip). Each list is meant for its owner; whoever runs this sees all of them and is trusted.
    """

    kind: ClassVar[str] = "neighbours"
    shape: ClassVar[Shape] = Shape.PER_PERSON
    pays: ClassVar[Pays] = Pays.PERSON
    counted: ClassVar[str] = "people"
    offering: ClassVar[Offering] = Offering(
        name="list of neighbours",
        gets="lists of people like you",
        about="which of the people that a service has sketches of are most like you",
        value=ranked.schema("peer"),
    )
    inputs: ClassVar[Mapping[str, Input]] = {
        "profiles": replace(PROFILES, required=False),
        "sketches": SKETCHES,
        "people": PEOPLE,
        "items": ITEMS,
    }

    comparison: ClassVar[Comparison] = Comparison(
        reads=("profiles", "people", "items"),
        methods=("sketches", "sketches-strictest", "direct", "direct-strictest", "gossip"),
        unused=("total_epsilon", "measure", "norms", "weighting"),
        runs=5,
        options=(
            Option("held_out", "The share of items that neighbours have to supply.", SHARE, "0.1"),
        ),
    )

    epsilon: Number | None = option(
        "What an item of weight 1 may lose: in all (sketches), or in one comparison (direct, "
        "gossip). Left out where sketches were released.",
        perhaps(BUDGET),
        default=None,
    )
    k: int = option("How many neighbours of each person.", count(metavar="K"), default=10)
    method: str = option(
        "Compare noisy sketches, published once; everybody with everybody; or meet a few.",
        choice("sketches", "direct", "gossip"),
        default="sketches",
    )
    total_epsilon: Number | None = option(
        "For gossip: what an item of weight 1 may lose in all; needs max-contacts.",
        perhaps(BUDGET),
        default=None,
    )
    max_contacts: int | None = option(
        "For gossip: how many others one may meet.", perhaps(count(metavar="N")), default=None
    )
    profile_size: int = option(f"For sketches: {SIZE_HELP}", count(metavar="N"), default=100)
    measure: str = option(
        "For direct and gossip: what to compute.", choice(*MEASURES), default="cosine"
    )
    norms: str | None = option(NORMS_HELP, perhaps(choice(*NORMS)), default=None)
    weighting: str = option(
        "For direct and gossip: what a common item counts, given both weights.",
        choice(*WEIGHTINGS),
        default="min",
    )

    def check(self) -> None:
        """Options of one method are not given with another."""
        gossip = self.method == "gossip"
        for name in ("total_epsilon", "max_contacts"):
            value = getattr(self, name)
            require(gossip or value is None, name, value, "left out unless the method is gossip")
        split = self.total_epsilon is None or self.max_contacts is not None
        require(split, "total_epsilon", self.total_epsilon, "given with max-contacts")
        if self.method == "sketches":
            usual = {"measure": "cosine", "norms": None, "weighting": "min"}
            for name, value in usual.items():
                rule = "left out for sketches, which estimate the cosine; direct and gossip take it"
                require(getattr(self, name) == value, name, getattr(self, name), rule)

    def check_given(self, given: Collection[str]) -> None:
        """Profiles, or sketches alone."""
        one = ("profiles" in given) is not ("sketches" in given)
        require(one, "data", "others", "with profiles or sketches, and not with both")
        for name in ("people", "items") if "sketches" in given else ():
            rule = "left out with sketches: they are of those who were sketched"
            require(name not in given, name, "given", rule)

    def paid_by(self, given: Collection[str]) -> Pays:
        """Nobody, where sketches were released."""
        return Pays.NOBODY if "sketches" in given else Pays.PERSON

    def terms(self, public: Public) -> Terms:
        """See ``Query``."""
        if "sketches" in public.tables:
            rule = "left out: the sketches were released and paid for"
            require(self.epsilon is None, "epsilon", self.epsilon, rule)
            require(self.method == "sketches", "method", self.method, "sketches, as these are")
            from reticent.queries.sketched_neighbours import FromSketches

            return FromSketches(self, public.tables["sketches"])
        most = self.k if public.count is None else max(public.count - 1, 1)
        return NeighboursTerms(self, public, self._method(min(self.k, most)))

    def _method(self, k: int) -> Method:
        from reticent.queries.neighbour_methods import Direct, Gossiped, Published
        from reticent.queries.sketches import blip

        epsilon = self.epsilon or self.total_epsilon
        if epsilon is None:
            raise ParameterError("epsilon", "given: what an item of weight 1 may lose", None)
        if self.method == "sketches":
            return Published(blip(epsilon, self.profile_size, "neighbours"), k)
        pair = comparison(epsilon, self.measure, self.norms, self.weighting)
        if self.method == "direct":
            return Direct(pair, k)
        from reticent.tasks.clustering import Gossip

        total, most = self.total_epsilon, self.max_contacts
        return Gossiped(Gossip(similarity=pair, k=k, total_epsilon=total, max_contacts=most))

    def with_little_noise(self) -> Neighbours:
        """Whatever the budget is called."""
        if self.total_epsilon is None:
            return replace(self, epsilon=LOUD)
        return replace(self, epsilon=LOUD, total_epsilon=LOUD)

    def curves(self, tables: Mapping[str, Any], trial: Trial) -> Curves:
        """The share of held-out items that neighbours have, at one loss to all others together."""
        from reticent.tasks.comparing_neighbours import Search, neighbour_curves

        self.facts(tables)
        return neighbour_curves(
            tables["profiles"].profiles,
            Search(self.k, self.profile_size, trial.more["held_out"], self.max_contacts),
            epsilons=trial.values,
            runs=trial.runs,
            source=trial.source,
            ways=trial.methods,
            progress=trial.progress,
        )

    def worlds(self) -> tuple[World, ...]:
        """An item of a person; none where sketches were released before."""
        if self.epsilon is None and self.total_epsilon is None:
            return ()
        return item_worlds("you", exchanged=self.norms == "public", more={})

    def facts(self, tables: Mapping[str, Any]) -> Public:
        """Who there is; one person has no neighbours."""
        from reticent.data.interactions import TableError
        from reticent.queries.profile_tables import everybody

        found = everybody(tables)
        if "profiles" in tables and found.count == 1:
            raise TableError(
                tables["profiles"].called, "has one person only: there is nobody to compare"
            )
        return found


@dataclass(frozen=True, slots=True)
class NeighboursTerms(Terms):
    """A ranked list for each person."""

    query: Neighbours
    known: Public
    mechanism: Method  # type: ignore[assignment]  # it has all that terms ask for
    scatter: Scatter | None = None
    columns: ClassVar[tuple[str, ...]] = ranked.PEERS

    def scattered(self, scatter: Scatter) -> NeighboursTerms:
        """Lists are made elsewhere, where the method allows it."""
        return replace(self, scatter=scatter)

    @property
    def people(self) -> int:
        """How many there are; two, where it is not known."""
        return self.known.count or 2

    @property
    def what(self) -> str:
        """In words."""
        k = self.query.k if self.known.count is None else min(self.query.k, self.people - 1)
        by = f"noisy {self.query.measure} ({self.query.method})"
        return f"the {k} nearest of each person by {by}"

    def loss(self) -> PerItemDP:
        """To whoever reads all lists."""
        return self.mechanism.guarantee(self.people)

    def words(self) -> LossWords:
        """Those who see fewer lists learn less."""
        from reticent.guarantees.loss_words import EpsilonWords

        loss = self.loss()
        found = {who: nano or 0 for who, nano in self.mechanism.losses(self.people).items()}
        less = {who: nano for who, nano in found.items() if nano < loss.overall}
        return EpsilonWords(loss.overall, loss.unit.question, less)

    def event(self, source: Source) -> Event:
        """Of lists for so many people."""
        return self.mechanism.event(self.people, private=source.private)

    def utility(self) -> Utility:
        """The error of one score."""
        return self.mechanism.utility()

    def how(self) -> How:
        """How a score was made."""
        return self.mechanism.how()

    def evidence(self) -> Evidence:
        """By what right."""
        return self.mechanism.evidence()

    def payers(self, limit: int | None) -> list[tuple[Payer, int]] | None:
        """Everybody, for what a reader of all lists learns."""
        from reticent.queries.profile_tables import each

        return each(self.known, limit, self.loss().overall)

    @property
    def cautions(self) -> tuple[str, ...]:
        """From public parameters: what is unknown, what promises little, what is mostly chance."""
        from reticent.amounts import show_up
        from reticent.queries.profile_tables import unweighted

        told, asked = list(unweighted(self.known)), self.query
        losses = self.mechanism.losses(self.people)
        if self.known.count is None and self.mechanism.losses(None) != losses:
            told.append("what is lost grows with the number of people, and this is for two")
        total = losses.get("all others together")
        if total is not None and total > MUCH:
            told.append(
                "all others together learn much; sketches promise the same to everybody: --method "
                "sketches"
            )
        noise = self.mechanism.overlap_noise()
        if 2 * noise > asked.profile_size:
            told.append(
                f"noise of about {show_up(noise, 3)} common items hides who is near whom among "
                f"profiles of {asked.profile_size} items (--profile-size): ranks are mostly chance"
            )
        return tuple(told)

    def details(self) -> Details:
        """What is lost, by who looks."""
        from reticent.amounts import show_nano
        from reticent.guarantees.card import right_at_most
        from reticent.queries.plans import Details

        losses = {who: nano or 0 for who, nano in self.mechanism.losses(self.people).items()}
        told = {who: (show_nano(nano), right_at_most(nano)) for who, nano in losses.items()}
        heads = ("who looks", "epsilon ", "right at most, of 100 ")
        fields = {"losses": {who.replace(" ", "_"): nano for who, (nano, _) in told.items()}}
        return Details(heads, tuple((who, *each) for who, each in told.items()), (), fields)

    @property
    def public(self) -> tuple[str, ...]:
        """Who there is."""
        from reticent.queries.profile_tables import who

        return (who(self.known),)

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.queries.profile_tables import declared

        return self.mechanism.scope(self.people, declared(self.known))

    def draw(
        self, tables: Mapping[str, Any], source: Source, progress: Progress
    ) -> tuple[Any, Any]:
        """Places of peers, and their scores."""

        def step(done: int, of: int) -> None:
            progress(done / max(of, 1))

        found = self.mechanism.find(tables["profiles"].profiles, source, step, self.scatter)
        return found.peers, found.scores

    def show(self, kept: tuple[Any, Any]) -> dict[str, list[dict[str, Any]]]:
        """Lists by person."""
        names = self.known.names or ()
        return ranked.shown(names, *kept, names, "peer")

    def tables(self, kept: tuple[Any, Any]) -> Iterator[Any]:
        """Lists of some people at a time."""
        names = self.known.names or ()
        return ranked.tables(names, *kept, names, self.columns)

    def rows(self, value: Any) -> list[tuple[Any, ...]]:
        """One for each peer, by person and rank."""
        return ranked.rows(value)
