"""People's profiles through a mapping that hides a secret, one draw for each person.

Theory    docs/theory/mapping.md, Theorem 5 (integer rows), Theorem 6 (several releases)
Not here  learning a mapping (tasks/learning.py), drawing (tasks/recoding.py), who was released as
          what before (tasks/released_store.py), what preferences allow (tasks/hidden_secrets.py).

Bits on average do not add as epsilon does: nobody is charged, each release is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.errors import ParameterError, require
from reticent.queries.base import Pays, Progress, Public, Query, Shape
from reticent.queries.inputs import MAPPING, PREFERENCES, Cells, Input, Role, Table
from reticent.queries.offering import Lasts, Offering
from reticent.queries.options import FLAG, NAME, json_file, option, perhaps
from reticent.queries.people import PersonTerms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reticent.guarantees.card import Preferences as OnCard
    from reticent.guarantees.card import Scope
    from reticent.guarantees.loss_words import LossWords
    from reticent.mechanisms.base import Mechanism
    from reticent.noise import Source
    from reticent.preferences import Preferences
    from reticent.queries.binding import Bound
    from reticent.queries.evaluate.inference_audit import Findings
    from reticent.queries.public_terms import PublicTerms
    from reticent.tasks.batched import Batched
    from reticent.tasks.charged import Payer
    from reticent.tasks.recoding import Recoding

_PERSON, _ALIAS = "person", "user"
_WHO = Role(Cells.NAME, "Who it is, named once.", aliases=(_ALIAS,))
PEOPLE = Table("A line for each person.", {_PERSON: _WHO}, rest="those of the mapping")


@dataclass(frozen=True, kw_only=True)
class Profile(Query):
    """A profile that tells little about a secret.

    Of everybody in the table, or of one person, through a mapping that release mapping wrote. Only
    the columns of the mapping leave, and who it is; the secret itself plays no part. A profile that
    the mapping does not know is released as the mapping's rule says. Whatever the preferences hide
    and the mapping does not is refused. Bits on average do not add as epsilon does: the ledger
    notes the release of each person, at cost 0.
    """

    kind: ClassVar[str] = "profile"
    shape: ClassVar[Shape] = Shape.PER_PERSON
    pays: ClassVar[Pays] = Pays.RECORDED
    absent: ClassVar[Mapping[str, str]] = {
        "verify": "its promise is an average; audit profile tries it on people",
        **dict.fromkeys(("compare", "sweep"), "its noise is that of its mapping: compare mapping"),
    }
    inputs: ClassVar[Mapping[str, Input]] = {
        "mapping": MAPPING,
        "table": PEOPLE,
        "preferences": replace(PREFERENCES, help="What is allowed; its [hide] limits are kept."),
    }

    offering: ClassVar[Offering] = Offering(
        name="coded profile",
        gets="a coded profile",
        about="a profile drawn for you, from which what you hide is hard to infer",
        value={"type": "object", "additionalProperties": {"type": ["string", "number"]}},
        beside="columns",
        lasts=Lasts.MAPPING,
    )

    provider: str | None = option(
        "Who gets it; needed with preferences, which must name it.",
        perhaps(NAME),
        default=None,
        local=True,
    )
    person: str | None = option(
        "Only this person of the table.", perhaps(NAME), default=None, local=True
    )
    once: str | None = option(
        "Remember here who was released as what, .json, and repeat the answer when asked again: a "
        "second draw would tell more.",
        perhaps(json_file("STORE")),
        default=None,
    )
    own_device: bool = option(
        "You are this person and the table never left your device: the card then says that nobody "
        "else sees the profile.",
        FLAG,
        default=False,
        local=True,
    )

    def check(self) -> None:
        """A device is of one person."""
        alone = self.person is not None or not self.own_device
        require(alone, "own_device", True, "given with a person: a device is of one person")

    def reads(self, known: Mapping[str, Any]) -> Mapping[str, Input]:
        """The columns of the mapping, too; one of them may be called as people usually are."""
        if "mapping" not in known:
            return self.inputs
        names = known["mapping"].columns
        taken = _ALIAS in {name.casefold() for name in names}
        own = dict.fromkeys(names, Role(Cells.TEXT, "What the mapping changes."))
        who = replace(_WHO, aliases=()) if taken else _WHO
        return {**self.inputs, "table": replace(PEOPLE, roles={_PERSON: who, **own})}

    def terms(self, public: Public) -> ProfileTerms:
        """See ``Query``."""
        if "mapping" not in public.tables:
            raise ParameterError("mapping", "given: how profiles are changed", None)
        recoding: Recoding = public.tables["mapping"]
        clash = _PERSON in {name.casefold() for name in recoding.columns}
        require(not clash, "mapping", "a column person", "without a column called person")
        wishes: Preferences | None = public.tables.get("preferences")
        if self.once is not None:
            from reticent.tasks.released_store import ReleasedStore

            ReleasedStore(Path(self.once)).check()
        left_open = self._left_open(recoding, wishes)
        return ProfileTerms(self, public, recoding.mechanism, recoding, wishes, left_open)

    def _left_open(self, recoding: Recoding, wishes: Preferences | None) -> tuple[str, ...]:
        """What preferences leave open; what they do not allow is refused."""
        from reticent.tasks.hidden_secrets import check_hidden

        if wishes is None:
            rule = "left out without preferences: only they say who may get what"
            require(self.provider is None, "provider", self.provider, rule)
            return ()
        if self.provider is None:
            rule = "given with preferences: who is not named in them gets nothing"
            raise ParameterError("provider", rule, None)
        wishes.grant(self.provider, attributes=())
        return check_hidden(recoding, wishes)

    def on_terms(self, provider: str, held: Mapping[str, Any]) -> PublicTerms:
        """Of the person, or of nobody in particular."""
        from reticent.queries.public_terms import RecodedTerms, public_terms
        from reticent.tasks.terms import ProfileTerms as Maths

        terms: Any = public_terms(self, held)
        return RecodedTerms(self, terms, Maths(terms.recoding))

    def audit(
        self,
        data: Any = None,
        *,
        draws: int | None = None,
        source: Source | None = None,
        **more: Any,
    ) -> Findings:
        """Infer a secret of people from what is released of them, before and after.

        ``data`` are the mapping and a table with the secret; ``secret`` and ``value`` say what to
        infer, ``seed`` which half is attacked. Draws are thrown away.
        """
        from reticent.queries.evaluate.inference_audit import infer, read_attacked

        known = isinstance(data, Mapping) and {"mapping", "table"} <= data.keys()
        require(known, "data", type(data).__name__, "a mapping and a table, by these names")
        require(draws is None, "draws", draws, "left out: each person is drawn once")
        recoding = MAPPING.read("mapping", data["mapping"], {}, {})
        return infer(recoding, read_attacked(data["table"]), source=source, **more)

    def facts(self, tables: Mapping[str, Any]) -> Public:
        """Who has a line; of one person nothing else in the table decides."""
        if "table" in tables:
            names = _names(tables["table"], self.person)
            return Public(len(names), names, tables=tables)
        if self.person is not None:
            return Public(1, [self.person], tables=tables)
        return Public(tables=tables)


def _names(table: Bound, person: str | None) -> list[str]:
    """Everybody, or one person, in canonical order: that of the table does not show."""
    from reticent.data.interactions import TableError
    from reticent.data.labels import in_order

    names = table[_PERSON].tolist()
    if person is not None:
        names = [name for name in names if name == person]
        rule = "a person of the table: who has no line there has no profile to release"
        require(bool(names), "person", person, rule)
    if not names:
        raise TableError(table.called, "has no people: there is nothing below the header")
    if not all(names):
        raise TableError(table.called, "has a line that names nobody")
    if len(set(names)) < len(names):
        why = "a person has one line here, two draws tell more"
        raise TableError(table.called, f"names somebody more than once: {why}")
    return sorted(names, key=in_order)


@contextmanager
def _known(table: Bound) -> Iterator[None]:
    """What a mapping refuses is said of the table."""
    from reticent.data.interactions import TableError

    try:
        yield
    except ParameterError as error:
        if error.name != "profile":
            raise
        why = "the mapping was learnt with --unknown refuse; nothing was released"
        what = f"holds a profile too far from all that the mapping knows: {why}"
        raise TableError(table.called, what) from None


@dataclass(frozen=True, slots=True)
class ProfileTerms(PersonTerms):
    """A row of cells of the mapping's columns for each person, or none."""

    query: Profile
    known: Public
    mechanism: Mechanism[Any]
    recoding: Recoding
    wishes: Preferences | None
    left_open: tuple[str, ...]

    def informed(self, query: Query, found: Public) -> ProfileTerms:
        """Who is released does not change the mapping."""
        return replace(self, known=found)

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """Person, then the mapping's."""
        return (_PERSON, *self.recoding.columns)

    @property
    def what(self) -> str:
        """In words."""
        person, provider = self.query.person, self.query.provider
        whose = "everybody's profile" if person is None else f"profile of {person}"
        whom = "" if provider is None else f" for {provider}"
        return f"{whose}{whom}, hiding {self.recoding.mechanism.secret}"

    def words(self) -> LossWords:
        """Each secret by itself, where there are several."""
        from reticent.guarantees.loss_words import BitsWords
        from reticent.tasks.leakage import secret_bits

        return BitsWords(self.recoding.mechanism.guarantee(), secret_bits(self.recoding))

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the preferences leave open, and what a second draw would tell."""
        told = list(self.left_open)
        if self.wishes is not None and self.query.person is None:
            told.append("the same preferences are applied to all people of the table")
        if self.query.once is None:
            told.append(self._twice())
        return tuple(told)

    def _twice(self) -> str:
        from reticent.guarantees.average_numbers import up

        both = self.recoding.mechanism.statement.two_releases
        more = "tells more" if both is None else f"and this one tell {up(both)} bits together"
        return f"a second draw for the same person {more}; --once STORE.json repeats the first"

    @property
    def public(self) -> tuple[str, ...]:
        """The mapping, and who is released."""
        return ("the mapping", "who is released")

    def scope(self) -> Scope:
        """See ``promises``."""
        from reticent.guarantees import promises

        hiding = self.recoding.mechanism
        return promises.profile(
            hiding.secret,
            hiding.prior,
            unknown=self.recoding.unknown,
            own_device=self.query.own_device,
        )

    def preferences(self) -> OnCard | None:
        """That limits were kept, if there were any."""
        from reticent.tasks.hidden_secrets import kept_limits

        return kept_limits(self.wishes)

    def payer(self, person: str) -> Payer:
        """In whose name a draw through this mapping is recorded, with the provider."""
        from reticent.tasks.charged import ANYONE, Payer

        provider, what = self.query.provider or ANYONE, f"profile: {self.recoding.fingerprint}"
        return Payer(subject=person, provider=provider, what=what)

    @property
    def types(self) -> tuple[type, ...]:
        """Text, as the mapping writes it."""
        return (str,) * len(self.recoding.columns)

    def draw(self, tables: Mapping[str, Any], source: Source, progress: Progress) -> dict[str, Any]:
        """Cells for each person, none where a profile is withheld; or what they got before."""
        from reticent.tasks.released_store import DrawnProfiles, ReleasedStore

        names = list(self.known.names or ())
        if self.query.once is None:
            drawn = DrawnProfiles(self.drawn(tables, names, source))
        else:
            store = ReleasedStore(Path(self.query.once))
            with _known(tables["table"]):
                drawn = store.draw(self.recoding, self._rows(tables, names), names, source)
        return {
            "profiles": drawn.profiles,
            "repeated": drawn.repeated,
            "elsewhere": drawn.elsewhere,
        }

    def each(
        self, tables: Mapping[str, Any], people: Sequence[str], source: Source
    ) -> list[list[str] | None]:
        """Cells for each person, none where a profile is withheld."""
        from reticent.tasks.released_store import drawn_profiles

        with _known(tables["table"]):
            return drawn_profiles(self.recoding, self._rows(tables, people), source)

    def batches(self, columns: Mapping[str, str]) -> Batched:
        """Distinct cells are read once, and profiles leave in their own types."""
        from reticent.tasks.charged import ANYONE
        from reticent.tasks.recoding_arrow import ProfileBatches

        rule = "left out: the folder and its key remember what everybody got"
        require(self.query.once is None, "once", self.query.once, rule)
        if any(columns.get(name, name) != name for name in self.recoding.columns):
            return PersonTerms.batches(self, columns)
        provider = self.query.provider or ANYONE
        return ProfileBatches(self.recoding, person=columns[_PERSON], provider=provider)

    def _rows(self, tables: Mapping[str, Any], people: Sequence[str]) -> NDArray[Any]:
        """What these people have, as the mapping reads it."""
        import numpy as np

        from reticent.data.people_tables import in_ranges

        table, widths = tables["table"], self.recoding.widths
        held = [
            in_ranges(table[name], widths[name]) if name in widths else table[name]
            for name in self.recoding.columns
        ]
        places = {name: place for place, name in enumerate(table[_PERSON].tolist())}
        return np.column_stack(held)[[places[name] for name in people]]

    def show(self, kept: dict[str, Any]) -> dict[str, dict[str, str] | None]:
        """Cells by person and column; None for who is withheld."""
        columns = self.recoding.columns
        return {
            name: None if cells is None else dict(zip(columns, cells, strict=True))
            for name, cells in zip(self.known.names or (), kept["profiles"], strict=True)
        }

    def rows(self, value: dict[str, dict[str, str] | None]) -> list[tuple[Any, ...]]:
        """One for each person, by name."""
        nothing = dict.fromkeys(self.recoding.columns)
        return [(name, *(cells or nothing).values()) for name, cells in value.items()]

    def lines(self, value: dict[str, dict[str, str] | None]) -> list[str] | None:
        """One person's profile as a table."""
        from reticent.guarantees.card_facts import printable
        from reticent.layout import table

        if self.query.person is None:
            return None
        told = value[self.query.person] or dict.fromkeys(self.recoding.columns, "withheld")
        cells = [(printable(name), printable(cell)) for name, cell in told.items()]
        return table(("attribute", "released"), cells)

    def notes(self, kept: dict[str, Any]) -> tuple[str, ...]:
        """Who is withheld, and what was released before."""
        count, told = len(kept["profiles"]), []
        withheld = sum(cells is None for cells in kept["profiles"])
        if withheld and self.query.person is None:
            told.append(
                f"withheld: {withheld}; that they are tells that the mapping does not know them"
            )
        if kept["repeated"]:
            before = "were released before and got that answer"
            told.append(f"repeated: {kept['repeated']} of {count} {before}")
        if kept["elsewhere"]:
            told.append(
                f"{kept['elsewhere']} of these people were released through another mapping "
                "before: together the two may tell more than either promises"
            )
        return tuple(told)
