"""How many items of each attribute people have, for a provider.

Theory    docs/theory/multilevel.md, Theorems 1 and 2; docs/theory/reconstruction.md, Theorem 3
Not here  how the noise is planned and drawn (mechanisms/), adding up (tasks/histogram_batches.py).

What the preferences grant the provider fixes the form of the answer; what items weigh does not show
in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from reticent.errors import ParameterError, require
from reticent.queries.base import Pays, Public, Query, Shape
from reticent.queries.inputs import CATALOGUE, PEOPLE, PREFERENCES, PROFILES, Input
from reticent.queries.offering import Offering
from reticent.queries.options import BUDGET, FLAG, NAME, amounts, choice, option, perhaps
from reticent.queries.people import PersonTerms
from reticent.queries.trials import Comparison, Trial
from reticent.queries.worlds import ITEMS, World, item_worlds
from reticent.rational import Number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reticent.data.catalogue import Catalogue
    from reticent.guarantees.card import Preferences as OnCard
    from reticent.guarantees.card import Scope
    from reticent.mechanisms.multilevel_plan import HistogramPlan
    from reticent.noise import Source
    from reticent.preferences import Grant, Preferences
    from reticent.queries.plans import Details
    from reticent.queries.public_terms import PublicTerms
    from reticent.tasks.batched import Batched
    from reticent.tasks.charged import Payer
    from reticent.tasks.comparing import Curves

GOALS = ("mse", "mae", "mael")


@dataclass(frozen=True, kw_only=True)
class Histogram(Query):
    """How many items of each attribute people have.

    With noise, for a provider; of everybody in the table, or of one person. Preferences say how
    much each attribute may tell, all of them together, and how much each item counts; the same ones
    are applied to everybody. Weights of the table narrow them. Each person is charged, up to the
    total that the preferences allow the provider. Items that the catalogue lacks count for nothing.
    """

    kind: ClassVar[str] = "histogram"
    shape: ClassVar[Shape] = Shape.PER_PERSON
    pays: ClassVar[Pays] = Pays.PERSON
    counted: ClassVar[str] = "people"
    inputs: ClassVar[Mapping[str, Input]] = {
        "profiles": PROFILES,
        "catalogue": CATALOGUE,
        "preferences": PREFERENCES,
        "people": PEOPLE,
    }
    figures: ClassVar[Mapping[str, str]] = {
        "plot": "Draw the noise of each attribute here, .svg.",
        "sharing": "Draw the error against epsilon here, .svg.",
    }
    offering: ClassVar[Offering] = Offering(
        gets="a histogram",
        about="how many items of each attribute you have",
        value={"type": "object", "additionalProperties": {"type": "number"}},
        beside="attributes",
    )

    attack_reads: ClassVar[tuple[str, ...]] = ("catalogue",)
    comparison: ClassVar[Comparison] = Comparison(
        compared=None,
        swept=None,
        reads=("catalogue", "preferences"),
        methods=("shared-at-best", "scaled-alike", "one-for-all", "added-up"),
        unused=("person", "possible", "own_device"),
        runs=None,
    )

    provider: str = option("Who gets it.", NAME, default="anyone", local=True)
    epsilon: Number | None = option(
        "What an item of weight 1 may lose, in all and by each attribute, where there are no "
        "preferences that say so.",
        perhaps(BUDGET),
        default=None,
    )
    attributes: Mapping[str, Number] | None = option(
        "What each attribute alone may lose; default stands for those that are not named, and "
        "without it they are left out. Given with epsilon.  [default: epsilon each]",
        perhaps(amounts("NAME=E,...")),
        default=None,
    )
    person: str | None = option(
        "Only this person of the table.", perhaps(NAME), default=None, local=True
    )
    goal: str = option(
        "The error to make least: mean squared, mean absolute, or mean absolute relative to what "
        "each attribute's budget alone allows.",
        choice(*GOALS),
        default="mse",
    )
    replace: bool = option(
        "Protect against an item being replaced by another one of the catalogue, the number of a "
        "person's items in it being public, instead of being added or removed.",
        FLAG,
        default=False,
    )
    possible: bool = option(
        "Move the numbers to the nearest histogram that a profile can have; smaller errors, but "
        "biased. Costs no privacy.",
        FLAG,
        default=False,
    )
    own_device: bool = option(
        "You are this person and the table never left your device: the card then says that nobody "
        "else sees the profile.",
        FLAG,
        default=False,
        local=True,
    )

    def check(self) -> None:
        """A device is of one person; amounts of attributes are parts of an epsilon."""
        alone = self.person is not None or not self.own_device
        require(alone, "own_device", True, "given with a person: a device is of one person")
        whole = self.attributes is None or self.epsilon is not None
        require(whole, "attributes", "given", "given with epsilon, what all of them may lose")

    def wants(self, name: str) -> bool:
        """Preferences, unless epsilon says it all."""
        return name != "preferences" or self.epsilon is None

    def terms(self, public: Public) -> HistogramTerms:
        """See ``Query``."""
        from reticent.guarantees import ITEM, ITEM_SUBSTITUTE
        from reticent.tasks.histogram import plan_for

        wishes = self._wishes(public.tables.get("preferences"))
        if "catalogue" not in public.tables:
            raise ParameterError("catalogue", "given: which item has which attribute", None)
        self._check_attributes(public.tables["catalogue"])
        self._check_weights(wishes.weighted_for(self.provider))
        unit = ITEM_SUBSTITUTE if self.replace else ITEM
        goal: Any = self.goal
        made, grant = plan_for(
            public.tables["catalogue"], wishes, self.provider, goal=goal, unit=unit
        )
        if self.possible:  # each number then depends on all of them
            made = replace(made, mechanism=replace(made.mechanism, together=True))
        clash = "person" in made.attributes
        require(not clash, "catalogue", "an attribute person", "without one called person")
        found = HistogramTerms(self, public, made.mechanism, made, grant, wishes)
        return found.informed(self, public)

    def _check_attributes(self, catalogue: Catalogue) -> None:
        known = {*catalogue.attributes, "default"} - set(catalogue.empty)
        for name in dict(self.attributes or {}):
            require(name in known, "attributes", name, "of the catalogue, each with some item")

    def _check_weights(self, weighted: bool) -> None:
        why = "left out with weights of items: a replaced item may have another weight"
        require(not (self.replace and weighted), "replace", True, why)

    def _wishes(self, given: Preferences | None) -> Preferences:
        from reticent.preferences import Preferences

        if given is not None:
            clear = self.epsilon is None
            require(clear, "epsilon", self.epsilon, "left out: the preferences say it")
            return given
        if self.epsilon is None:
            rule = "given, or preferences that say what may be lost"
            raise ParameterError("epsilon", rule, None)
        return Preferences.alike(self.provider, self.epsilon, self.attributes)

    def on_terms(self, provider: str, held: Mapping[str, Any]) -> PublicTerms:
        """People also limit what each attribute alone tells."""
        from reticent.queries.public_terms import AttributeTerms

        return AttributeTerms.of(replace(self, provider=provider), held)

    def _whose(self, public: Public) -> Public:
        """The one person, if one is asked for."""
        if self.person is None:
            return public
        if public.declared:
            rule = "one of the people who were declared"
            require(self.person in (public.names or ()), "person", self.person, rule)
        return replace(public, count=1, names=[self.person])

    def curves(self, tables: Mapping[str, Any], trial: Trial) -> Curves:
        """Errors by how the provider's budget is shared, from the law of the noise."""
        from reticent.queries.evaluate.histograms import sharing_curves

        return sharing_curves(self, tables, trial)

    def worlds(self) -> tuple[World, ...]:
        """An item of a person; without an epsilon there are none, as only preferences limit it."""
        if self.epsilon is None:
            return ()
        catalogue = {"item": list(ITEMS), "attribute": ["Crime", "Family", "Crime"]}
        more = {"catalogue": catalogue}
        you = self.person or "you"
        return item_worlds(you, exchanged=self.replace, more=more, listed=False)

    def attacked(self, tables: Mapping[str, Any]) -> tuple[World, ...]:
        """With a catalogue, the item of it that loses most; else as in ``worlds``."""
        if "catalogue" not in tables or self.epsilon is None or self.replace:
            return self.worlds()
        from reticent.queries.evaluate.histograms import exposed_world

        return (exposed_world(self, tables["catalogue"]),)

    def best_guess(self, world: World) -> float | None:
        """That of the best test about one item; not known where items are exchanged."""
        from reticent.queries.evaluate.histograms import best_guess

        return None if self.replace or self.possible else best_guess(self, world)

    def facts(self, tables: Mapping[str, Any]) -> Public:
        """Who there is; to ask for one person is to declare them, with or without lines."""
        from reticent.queries.profile_tables import everybody

        if self.person is not None and "people" not in tables:
            return Public(1, [self.person], tables=tables)
        return everybody(tables)


@dataclass(frozen=True, slots=True)
class HistogramTerms(PersonTerms):
    """A number for each person and each attribute that is granted."""

    query: Histogram
    known: Public
    mechanism: Any
    made: HistogramPlan
    grant: Grant
    wishes: Preferences

    def informed(self, query: Query, found: Public) -> HistogramTerms:
        """The plan does not depend on who there is."""
        held = found.tables.get("profiles")
        self.query._check_weights(held is not None and held.weighted)
        return replace(self, known=self.query._whose(found))

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """Person, then attributes."""
        return ("person", *self.made.attributes)

    @property
    def what(self) -> str:
        """In words."""
        whose = self.query.person
        told = "everybody's noisy histogram" if whose is None else f"noisy histogram of {whose}"
        return f"{told} for {self.query.provider}"

    @property
    def error(self) -> str:
        """What moving numbers together does to it, too."""
        from reticent.amounts import show_nano

        sentence: str = self.mechanism.utility().sentence
        if not self.mechanism.together:
            return sentence
        loss = show_nano(self.mechanism.guarantee().overall)
        return (
            f"before moving {sentence}; moved to the nearest possible histogram the error is "
            f"smaller but biased, and each attribute alone tells up to epsilon {loss}"
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the preferences say and may not have meant."""
        told, provider = [], self.query.provider
        named = {*self.wishes.wishes.items, *self.wishes.wishes.own_items(provider)}
        if not any(self.wishes.weights(["", *named], provider=provider)):
            told.append("every item has weight 0, so the numbers are noise and nothing else")
        if self.wishes.hide:
            hidden = ", ".join(self.wishes.hide)
            told.append(
                "[hide] is about profiles: nothing here limits what a histogram tells about "
                f"{hidden}"
            )
        if self.query.person is None and self.query.epsilon is None:
            told.append("the same preferences are applied to all people of the table")
        return tuple(told)

    @property
    def public(self) -> tuple[str, ...]:
        """The catalogue, and what is granted."""
        sizes = ("how many items of the catalogue a person has",) if self.query.replace else ()
        from reticent.queries.profile_tables import who

        whom = (who(self.known),) if self.query.person is None else ()
        granted = "which attributes are granted, with what budgets"
        if self.grant.withheld:
            granted += f"; withheld: {', '.join(self.grant.withheld)}"
        return ("the catalogue", granted, *sizes, *whom)

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises

        model: Literal["local", "central"] = "local" if self.query.own_device else "central"
        listed = promises.public_lists(people=self.known.declared, items=False, catalogue=True)
        return promises.histogram(
            self.query.provider,
            weighted=self.made.mechanism.exposure.weighted,
            model=model,
            public=() if self.query.person is not None else (listed,),
        )

    def preferences(self) -> OnCard:
        """That items count by weight, if they do; never by which."""
        from reticent.guarantees.card import Preferences as OnCard

        weighted = self.made.mechanism.exposure.weighted
        return OnCard(withheld=0, public=not weighted, others_change_your_risk=False)

    def payer(self, person: str) -> Payer:
        """Their account with the provider, up to their total with it."""
        from reticent.tasks.histogram import payer_of

        return payer_of(person, self.wishes, self.query.provider)

    def each(
        self, tables: Mapping[str, Any], people: Sequence[str], source: Source
    ) -> NDArray[np.float64]:
        """A row of numbers for each person."""
        from reticent.tasks.histogram import possible, released

        profiles = tables["profiles"].profiles
        if people != profiles.people:
            profiles = profiles.in_catalogue(people, profiles.items)
        values = released(self.made, profiles, self.wishes, self.query.provider, source)
        if not self.query.possible:
            return values
        scales = [float(scale) for scale in self.mechanism.scales]
        return possible(values, scales, self.mechanism.catalogue)

    def batches(self, columns: Mapping[str, str]) -> Batched:
        """Added up on Arrow's own arrays; numbers that are moved together are not."""
        from reticent.guarantees import ITEM, ITEM_SUBSTITUTE
        from reticent.tasks.histogram_arrow import HistogramBatches

        if self.query.possible:
            return PersonTerms.batches(self, columns)
        weighted = "weight" in columns
        self.query._check_weights(weighted)
        goal: Any = self.query.goal
        return HistogramBatches.of(
            self.known.tables["catalogue"],
            self.wishes,
            self.query.provider,
            goal=goal,
            unit=ITEM_SUBSTITUTE if self.query.replace else ITEM,
            own=("weights",) if weighted else (),
            person=columns["person"],
            items=columns["item"],
            own_weights=columns.get("weight", "weights"),
        )

    def show(self, kept: NDArray[np.float64]) -> dict[str, dict[str, float]]:
        """Numbers by person and attribute."""
        return {
            name: dict(zip(self.made.attributes, row, strict=True))
            for name, row in zip(self.known.names or (), kept.tolist(), strict=True)
        }

    def rows(self, value: dict[str, dict[str, float]]) -> list[tuple[Any, ...]]:
        """One for each person, by name."""
        return [(name, *numbers.values()) for name, numbers in value.items()]

    def lines(self, value: dict[str, dict[str, float]]) -> list[str] | None:
        """One person's numbers with their errors."""
        from reticent.queries.histogram_views import released_lines

        if self.query.person is None:
            return None
        return released_lines(self.made, value[self.query.person])

    def details(self) -> Details:
        """Attribute by attribute."""
        from reticent.queries.histogram_views import details

        return details(self.made, self.grant.withheld, self.query.provider)

    def figure(self, name: str) -> str:
        """The noise of each attribute, or the error against epsilon."""
        from reticent.queries.histogram_views import shared_plans
        from reticent.report.histogram_figures import noise_figure, sharing_figure

        if name == "plot":
            return noise_figure(self.made, withheld=self.grant.withheld)
        return sharing_figure(shared_plans(self.made), chosen=self.made.epsilon)
