"""What the gateway keeps in memory: what is public, and people as of their last change.

Not here  the tables these come from (directory.py), what is done with them (service.py).

Everything kept is checked against the database at each use, by a number that changes with it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from reticent.data.catalogue import Catalogue
from reticent.errors import require
from reticent.gateway import directory
from reticent.gateway.answers import charge_of
from reticent.gateway.catalogue_text import catalogue_from_text
from reticent.gateway.directory import NoSuchPerson, Person
from reticent.gateway.offers import Offer, offers_of, read_asks
from reticent.ledger import Charge
from reticent.queries.public_terms import Subject
from reticent.tasks.recoding import Recoding
from reticent.tasks.recoding_files import recoding_from_json
from reticent.tasks.terms import Allowance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.ledger import Connection, Ledger

_KEPT = 20_000  # people


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class World:
    """What is public: the catalogue, the mapping, what providers ask for."""

    revision: str
    catalogue: Catalogue
    recoding: Recoding | None
    offers: Mapping[str, Mapping[str, Offer]]


@dataclass(slots=True, eq=False, repr=False)
class Known:
    """A person as of one version and one catalogue, with what was worked out of them."""

    person: Person
    catalogue: Catalogue
    held: NDArray[np.int64]
    _subjects: dict[str, Subject] = field(default_factory=dict)
    _charges: dict[tuple[str, int], Charge] = field(default_factory=dict)

    def subject(self, offer: Offer) -> Subject:
        """The person as these terms read them, worked out once."""
        if offer.id not in self._subjects:
            wishes, places = self.person.preferences, self.catalogue.places
            allowed = offer.terms.allowance(wishes, offer.provider, places)
            person = self.person
            self._subjects[offer.id] = Subject(person.id, self.held, person.columns, allowed)
        return self._subjects[offer.id]

    def allowance(self, offer: Offer) -> Allowance:
        """What the person lets a release on these terms lose."""
        return self.subject(offer).allowed

    def charge(self, offer: Offer, nano: int) -> Charge:
        """What a release on these terms costs the person, worked out once as well."""
        if (offer.id, nano) not in self._charges:
            self._charges[offer.id, nano] = charge_of(self.person, offer.provider, nano)
        return self._charges[offer.id, nano]


@dataclass(eq=False, repr=False)
class Memory:
    """The latest world, and people who were asked about."""

    ledger: Ledger
    private: bool  # false where a seeded source draws
    _world: World | None = None
    _people: OrderedDict[str, Known] = field(default_factory=OrderedDict)

    def world(self, connection: Connection) -> World:
        """Catalogue, mapping and offers, as they are now."""
        revision = directory.setting(connection, "revision") or ""
        found = self._world  # looked at once: another thread may put a later one in its place
        if found is None or found.revision != revision:
            found = self._load(connection, revision)
            self._world = found
            self._people.clear()
        return found

    def _load(self, connection: Connection, revision: str) -> World:
        text = directory.setting(connection, "catalogue")
        require(text is not None, "catalogue", None, "given first: reticent gateway init")
        assert text is not None  # noqa: S101
        catalogue = catalogue_from_text(text)
        mapping = directory.setting(connection, "mapping")
        recoding = None if mapping is None else recoding_from_json(mapping)
        offers = {
            name: offers_of(
                name,
                read_asks(asks),
                catalogue,
                recoding,
                private=self.private,
                card_of_terms=partial(directory.card_of, connection),
            )
            for name, asks in directory.providers(connection)
        }

        def keep(connection: Connection) -> None:
            for own in offers.values():
                for offer in own.values():
                    card = offer.card.to_json()
                    directory.keep_card(connection, offer.id, offer.provider, offer.kind, card)

        self.ledger.write(keep)
        return World(revision, catalogue, recoding, offers)

    def known(self, connection: Connection, person: str, catalogue: Catalogue) -> Known:
        """A person as they are now, over a catalogue; ``NoSuchPerson`` if they are not here."""
        stamp = directory.stamp_of(connection, person)
        if stamp is None:
            self.drop(person)
            raise NoSuchPerson
        found = self._people.get(person)
        if (
            found is None
            or found.catalogue is not catalogue  # another thread may have kept an older one
            or (found.person.tag, found.person.version) != stamp
        ):
            whole = directory.find_person(connection, person)
            held = np.zeros(len(catalogue), dtype=np.int64)
            held[directory.items_of(whole.items, catalogue.places)] = 1
            found = Known(whole, catalogue, held)
            self._people[person] = found
            if len(self._people) > _KEPT:
                self._people.popitem(last=False)
        return found

    def drop(self, person: str) -> None:
        """Forget somebody here."""
        self._people.pop(person, None)
