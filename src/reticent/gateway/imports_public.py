"""What is public about a gateway, put into it: the catalogue, the mapping, what is asked for.

Not here  people (imports.py), the files' forms (data/catalogue_files.py, tasks/recoding_files.py).

Nothing is kept that the gateway could not work with: before a change, all offers to all providers
are made anew with it. What is the same as before changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent.errors import ParameterError, ReticentError, require
from reticent.gateway import directory
from reticent.gateway.catalogue_text import catalogue_from_text, catalogue_to_text
from reticent.gateway.offers import Offer, offers_of, read_asks, write_asks
from reticent.queries.offered import offered
from reticent.tasks.recoding_files import recoding_from_json, recoding_to_json
from reticent.tasks.terms import ProfileTerms

if TYPE_CHECKING:
    from reticent.data.catalogue import Catalogue
    from reticent.gateway.service import Gateway
    from reticent.ledger import Connection
    from reticent.tasks.recoding import Recoding

_LONGEST = 200


class NoLongerOffered(ReticentError):
    """A new catalogue or mapping does not go with what a provider asks for."""


def read_mapping(path: Path) -> Recoding:
    """A mapping that a gateway can release through: of text, and with a rule that tells nothing."""
    try:
        recoding = recoding_from_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ParameterError("mapping", "text in UTF-8", path.name) from None
    ProfileTerms(recoding)
    text = all(isinstance(value, str) for row in recoding.profiles.tolist() for value in row)
    require(text, "mapping", "one of numbers", "of text, as reticent release mapping makes it")
    return recoding


def set_public(gateway: Gateway, catalogue: Catalogue, mapping: Recoding | None = None) -> bool:
    """Take a catalogue, and a mapping if there is one; whether anything changed."""
    told = {"catalogue": catalogue_to_text(catalogue)}
    if mapping is not None:
        told["mapping"] = recoding_to_json(mapping)

    def work(connection: Connection) -> bool:
        new = {
            name: text for name, text in told.items() if directory.setting(connection, name) != text
        }
        for name, text in new.items():
            directory.set_setting(connection, name, text)
        if new:
            _check_offers(connection)
            gateway.changed(connection)
        return bool(new)

    return gateway.write(work)


def set_asks(gateway: Gateway, provider: str, data: Mapping[str, Any]) -> dict[str, Offer]:
    """Keep what a provider asks for in public, and tell what it is offered for that."""
    plain = isinstance(provider, str) and 0 < len(provider) <= _LONGEST
    plain = plain and provider.isprintable() and " " not in provider
    require(plain, "provider", provider, f"a name of up to {_LONGEST} signs without spaces")
    asks = read_asks(data)

    def work(connection: Connection) -> dict[str, Offer]:
        catalogue, recoding = public(connection)
        offers = offers_of(provider, asks, catalogue, recoding)
        require(bool(offers), "asks", "nothing", f"some of {', '.join(offered())}")
        known = dict(directory.providers(connection)).get(provider)
        told = write_asks(asks)
        if known != told:
            directory.set_provider(connection, provider, told)
            gateway.changed(connection)
        return offers

    return gateway.write(work)


def public(connection: Connection) -> tuple[Catalogue, Recoding | None]:
    """The catalogue and the mapping as they are kept."""
    text = directory.setting(connection, "catalogue")
    require(text is not None, "catalogue", None, "given first: reticent gateway init")
    mapping = directory.setting(connection, "mapping")
    recoding = None if mapping is None else recoding_from_json(mapping)
    return catalogue_from_text(text or ""), recoding


def _check_offers(connection: Connection) -> None:
    catalogue, recoding = public(connection)
    for provider, asks in directory.providers(connection):
        try:
            offers_of(provider, read_asks(asks), catalogue, recoding)
        except ParameterError as error:
            raise NoLongerOffered(f"this does not go with {provider}: {error}") from None
