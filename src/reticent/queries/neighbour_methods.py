"""The three ways to find neighbours, and what the card of each says.

Theory    docs/theory/neighbours.md, Theorem 2 (the loss); docs/theory/clustering.md, Theorem 1
          (a run), Theorem 2 (cap); docs/theory/blip.md, Theorem 2 (weights by sampling)
Not here  the mathematics (tasks/), the query (neighbours.py).

What a list loses depends on who looks. The direct method draws noise anew for each list, so one
other person sees one score about you, all others together see one each, and whoever reads the whole
file sees your own list too. In gossip whom one meets depends on others' scores, so there one other
person is counted as everybody. A published filter costs the same whoever looks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from reticent.data.profiles import Profiles
    from reticent.guarantees import Event, PerItemDP
    from reticent.guarantees.card import Evidence, How, Scope, Utility
    from reticent.noise import Source
    from reticent.tasks.blip import Blip
    from reticent.tasks.clustering import Gossip
    from reticent.tasks.scattering import Scatter
    from reticent.tasks.similarity import Similarity

Step: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, repr=False)
class Found:
    """Lists of neighbours."""

    peers: Any
    scores: Any


class Method(ABC):
    """A way to find neighbours, with what its card says; public parameters only."""

    __slots__ = ()

    @abstractmethod
    def losses(self, people: int | None) -> dict[str, int | None]:
        """What an item of weight 1 loses, by who looks; None where ``people`` must be known."""

    @abstractmethod
    def guarantee(self, people: int) -> PerItemDP:
        """What the event of lists for so many people states."""

    @abstractmethod
    def parameters(self, people: int) -> tuple[str, dict[str, Any]]:
        """Name and public parameters of the event."""

    def event(self, people: int, *, private: bool) -> Event:
        """The event of lists for so many people, known before anything is drawn."""
        from reticent.guarantees import Event

        return Event(*self.parameters(people), self.guarantee(people), private)

    @abstractmethod
    def find(
        self, profiles: Profiles, source: Source, step: Step, scatter: Scatter | None
    ) -> Found:
        """Draw, and make the lists; ``scatter`` may share that out."""

    @abstractmethod
    def utility(self) -> Utility:
        """The error of one score."""

    @abstractmethod
    def overlap_noise(self) -> float:
        """About how many common items the noise of one comparison amounts to."""

    @abstractmethod
    def how(self) -> How:
        """How a score was made."""

    @abstractmethod
    def evidence(self) -> Evidence:
        """By what right."""

    @abstractmethod
    def scope(self, people: int, public: str) -> Scope:
        """Whom it protects, who must be trusted, and what of the table is public."""


@dataclass(frozen=True, slots=True)
class Direct(Method):
    """Everybody compared with everybody, with noise of its own in each list."""

    similarity: Similarity
    k: int

    def losses(self, people: int | None) -> dict[str, int | None]:
        """Each list holds one score about a person, and that person's own list one per peer."""

        def loss(comparisons: int) -> int:
            return self.similarity.guarantee(comparisons).overall

        return {
            "one other person": loss(1),
            "all others together": None if people is None else loss(people - 1),
            "reader of all lists": None if people is None else loss(2 * (people - 1)),
        }

    def guarantee(self, people: int) -> PerItemDP:
        """To whoever reads all lists: every pair stands in two of them, with its own noise."""
        return self.similarity.guarantee(2 * max(people - 1, 0))

    def parameters(self, people: int) -> tuple[str, dict[str, Any]]:
        """Those of one comparison, and of how many."""
        whole = {**self.similarity.parameters(), "people": people, "k": self.k}
        return "similarity-neighbours", whole

    def find(
        self, profiles: Profiles, source: Source, step: Step, scatter: Scatter | None
    ) -> Found:
        """All pairs at once."""
        found = self.similarity.neighbours(
            profiles, self.k, source=source, progress=step, scatter=scatter
        )
        return Found(found.peers, found.scores)

    def utility(self) -> Utility:
        """That of one comparison."""
        return self.similarity.utility()

    def overlap_noise(self) -> float:
        """That of one comparison."""
        return self.similarity.overlap_noise().mean_absolute_error or 0.0

    def how(self) -> How:
        """That of one comparison."""
        return self.similarity.how()

    def evidence(self) -> Evidence:
        """Many comparisons instead of one."""
        theorem = "docs/theory/neighbours.md, Theorem 2"
        return self.similarity.evidence().model_copy(update={"theorem": theorem})

    def scope(self, people: int, public: str) -> Scope:
        """The promise is about a reader of all lists; who sees fewer learns less."""
        from reticent.guarantees import promises

        one, others, _ = (nano or 0 for nano in self.losses(people).values())
        norms = self.similarity.norms
        return promises.neighbours_direct(norms=norms, public=public, one=one, others=others)


@dataclass(frozen=True, slots=True)
class Gossiped(Method):
    """Meetings over some rounds."""

    gossip: Gossip

    def losses(self, people: int | None) -> dict[str, int | None]:
        """One figure for all who look: whom one meets depends on scores that others saw."""
        known = self.gossip.max_contacts if people is None else people - 1
        loss = None if known is None else self.gossip.guarantee(known + 1).overall
        return dict.fromkeys(
            ("one other person", "all others together", "reader of all lists"), loss
        )

    def guarantee(self, people: int) -> PerItemDP:
        """To everybody."""
        return self.gossip.guarantee(people)

    def parameters(self, people: int) -> tuple[str, dict[str, Any]]:
        """Those of the protocol."""
        return self.gossip.name, {**self.gossip.parameters(), "people": people}

    def find(
        self, profiles: Profiles, source: Source, step: Step, scatter: Scatter | None
    ) -> Found:
        """All rounds."""
        found = self.gossip.cluster(profiles, source=source, progress=step)
        return Found(found.peers, found.scores)

    def utility(self) -> Utility:
        """That of one meeting."""
        return self.gossip.comparison.utility()

    def overlap_noise(self) -> float:
        """That of one meeting."""
        return self.gossip.comparison.overlap_noise().mean_absolute_error or 0.0

    def how(self) -> How:
        """That of one meeting."""
        return self.gossip.comparison.how()

    def evidence(self) -> Evidence:
        """Many meetings instead of one."""
        number = 1 if self.gossip.max_contacts is None else 2
        theorem = f"docs/theory/clustering.md, Theorem {number}"
        return self.gossip.comparison.evidence().model_copy(update={"theorem": theorem})

    def scope(self, people: int, public: str) -> Scope:
        """Comparisons need a trusted party."""
        from reticent.guarantees import promises

        return promises.neighbours_gossip(norms=self.gossip.comparison.norms, public=public)


@dataclass(frozen=True, slots=True)
class Published(Method):
    """Noisy filters, published once; lists are read off them and cost nothing more."""

    blip: Blip
    k: int

    def losses(self, people: int | None) -> dict[str, int | None]:
        """The same for all who look."""
        return {"anyone": self.blip.guarantee().overall}

    def guarantee(self, people: int) -> PerItemDP:
        """To anyone."""
        return self.blip.guarantee()

    def parameters(self, people: int) -> tuple[str, dict[str, Any]]:
        """Those of the filters."""
        return self.blip.name, {**self.blip.parameters(), "people": people}

    def find(
        self, profiles: Profiles, source: Source, step: Step, scatter: Scatter | None
    ) -> Found:
        """One publication, then all pairs."""
        sketches = self.blip.publish(profiles, source)
        found = sketches.nearest(min(self.k, len(profiles) - 1))
        return Found(found.peers, found.scores)

    def utility(self) -> Utility:
        """That of the filters."""
        return self.blip.utility()

    def overlap_noise(self) -> float:
        """That of two filters with little in them."""
        return self.blip.overlap_error()

    def how(self) -> How:
        """That of the filters."""
        return self.blip.how()

    def evidence(self) -> Evidence:
        """Flipping and sampling."""
        return self.blip.evidence()

    def scope(self, people: int, public: str) -> Scope:
        """People could do without this command's holder, if they made the filters themselves."""
        from reticent.guarantees import promises

        return promises.neighbours_sketches(public=public)
