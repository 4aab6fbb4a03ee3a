"""Cases of what is released about profiles, from the tables of a file.

Not here  numbers and choices (verify_numbers.py, verify_local.py), laws of your own
          (verify_tables.py).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.amounts import NANO
from reticent.cli.verify_domains import item_claims
from reticent.cli.verify_file import Section
from reticent.cli.verify_numbers import BY_ONE
from reticent.data.catalogue import Catalogue
from reticent.data.profiles import Profiles as PeopleProfiles
from reticent.guarantees import ITEM, Loss, MultiLevelDP, MutualInformation
from reticent.guarantees.losses import require_dp
from reticent.mechanisms.exposure import Exposure
from reticent.mechanisms.mapping import ProfileMapping
from reticent.mechanisms.modular import FUNCTIONS, WeightedProfile, stretchable
from reticent.mechanisms.multilevel import MultiLevel
from reticent.mechanisms.stretching import Stretching
from reticent.noise import Source
from reticent.optim.distances import distance_matrix
from reticent.optim.mapping import Channel
from reticent.tasks.blip import Blip
from reticent.testing.cases import Case, Part
from reticent.testing.leaks import mapping_tables, verify_leak
from reticent.testing.neighbourhoods import Listed, Profiles
from reticent.testing.profile_laws import Weighted, blip_law, multilevel_law, stretching_law

if TYPE_CHECKING:
    from numpy.typing import NDArray

_THEIRS = "their "
_NOTHING = "\0nothing"


def make_stretching(mechanism: Section, domain: Section) -> Stretching:
    """From epsilon, the function and its own parameters."""
    name = mechanism.text("function", among=tuple(FUNCTIONS))
    others: dict[str, Any] = {}
    if name == "sum":
        others["coefficients"] = mechanism.numbers("coefficients")
    elif name == "mean":
        others["size"] = mechanism.whole("size")
    elif name == "inner product":
        others["weighting"] = mechanism.text("weighting", "min", among=("product", "min"))
    return Stretching(epsilon=mechanism.number("epsilon"), function=stretchable(name, **others))


def stretching_case(
    mechanism: Stretching, domain: Section, claim: Section | None, loss: Loss
) -> Case:
    """A function of one profile or two; each item loses its weight's part."""
    items, weights = _weights(domain, "items")
    theirs = weights
    if mechanism.function.people == 2 and "theirs" in domain:
        names, theirs = _weights(domain, "theirs")
        if names != items:
            domain.wrong("theirs", "theirs must weigh the same items, in the same order")
    coefficients = getattr(mechanism.function, "coefficients", items)
    if len(coefficients) != len(items):
        domain.wrong("items", f"items must be {len(coefficients)}, one for each coefficient")
    people = ("", _THEIRS)[: mechanism.function.people]
    world = Profiles(items, _values(domain), people)
    own, overall = (weights, theirs)[: len(people)], Fraction(require_dp(loss).overall, NANO)
    promised: dict[Hashable, Fraction] = {
        f"{person}{item}": overall * weight
        for person, of in zip(people, own, strict=True)
        for item, weight in zip(items, of, strict=True)
    }
    claims = item_claims(claim, promised)

    def weighted(data: Any) -> list[Weighted]:
        return [_plain(profile, of) for profile, of in zip(data, own, strict=True)]

    def draw(data: Any, n: int) -> NDArray[Any]:
        source = Source.system()
        profiles = [WeightedProfile.of(values, of) for values, of in weighted(data)]
        return np.array([mechanism.release(profiles, source).value for _ in range(n)])

    part = Part(
        law=lambda data: stretching_law(mechanism, weighted(data)), claims=claims, outcomes=6
    )
    return Case(
        name=mechanism.name, world=world, claims=claims, parts=(part,), draw=draw, draws=BY_ONE
    )


def make_multi_level(mechanism: Section, domain: Section) -> MultiLevel:
    """From what each attribute alone may lose, or a rate for each, and the domain's catalogue."""
    catalogue, weighted = _catalogue(domain), mechanism.flag("weighted", False)
    exposure = Exposure.of(catalogue, unit=ITEM, weighted=weighted)
    by_rate = "rates" in mechanism
    told = mechanism.section("rates" if by_rate else "attributes")
    rates = [told.number(name) for name in catalogue.attributes]
    told.close()
    if not by_rate:
        most = exposure.largest.tolist()
        rates = [epsilon / int(units) for epsilon, units in zip(rates, most, strict=True)]
    return MultiLevel(exposure, rates, catalogue=catalogue)


def multi_level_case(
    mechanism: MultiLevel, domain: Section, claim: Section | None, loss: Loss
) -> Case:
    """All attributes together by item, and each of them alone."""
    catalogue = _catalogue(domain)
    if mechanism.catalogue is None:
        mechanism = replace(mechanism, catalogue=catalogue)
    assert isinstance(loss, MultiLevelDP)  # noqa: S101, what it promises
    items, weighted = catalogue.items, mechanism.exposure.weighted
    weights = (Fraction(1),) * len(items)
    if "items" in domain:
        names, weights = _weights(domain, "items")
        if names != items or not weighted:
            says = (
                "items must be those of the catalogue, in its order"
                if weighted
                else ("items have weights only if the mechanism is weighted")
            )
            domain.wrong("items", says)
    world = Profiles(items)
    promised: dict[Hashable, Fraction] = {
        item: Fraction(loss.overall, NANO) * weight
        for item, weight in zip(items, weights, strict=True)
    }
    claims = item_claims(claim, promised)
    alone = _attribute_claims(claim, mechanism, loss)
    count = len(mechanism.exposure.attributes)

    def law(data: Any, only: int | None = None) -> dict[str, Fraction]:
        return multilevel_law(mechanism, _plain(data[0], weights), only=only)

    def draw(data: Any, n: int) -> NDArray[Any]:
        source, held = Source.system(), [float(x) for x in data[0]]
        profile: Any = WeightedProfile.of(held, [float(w) for w in weights]) if weighted else held
        return np.array([mechanism.release(profile, source).value for _ in range(n)])

    parts = [Part(law=law, claims=claims, outcomes=3**count)]
    for j, (name, epsilon) in enumerate(alone.items()):
        label = f"{name} alone"
        parts.append(
            Part(
                law=lambda data, j=j: law(data, j),  # type: ignore[misc]
                claims={label: epsilon},
                outcomes=3,
                named=lambda unit, label=label: label,  # type: ignore[misc]
            )
        )
    return Case(
        name=mechanism.name,
        world=world,
        claims=claims,
        parts=tuple(parts),
        draw=draw,
        draws=BY_ONE,
    )


def _attribute_claims(
    claim: Section | None, mechanism: MultiLevel, loss: MultiLevelDP
) -> dict[str, Fraction]:
    names = mechanism.exposure.attributes
    claims = {name: Fraction(loss.attributes[name], NANO) for name in names}
    told = None if claim is None else claim.section("attributes", None)
    if told is not None:
        claims = {name: told.number(name, own) for name, own in claims.items()}
        told.close()
    return claims


def make_blip(mechanism: Section, domain: Section) -> Blip:
    """From epsilon, bits, hashes and salt."""
    return Blip(
        epsilon=mechanism.number("epsilon"),
        bits=mechanism.whole("bits", 64),
        hashes=mechanism.whole("hashes", 1),
        salt=mechanism.text("salt", ""),
    )


def blip_case(mechanism: Blip, domain: Section, claim: Section | None, loss: Loss) -> Case:
    """A flipped filter; of its bits those that some item sets, for others tell nothing."""
    items, weights = _weights(domain, "items")
    promised: dict[Hashable, Fraction] = {
        item: Fraction(require_dp(loss).overall, NANO) * weight
        for item, weight in zip(items, weights, strict=True)
    }
    claims = item_claims(claim, promised)
    used = sorted({int(place) for place in mechanism.positions(items).reshape(-1)})

    def draw(data: Any, n: int) -> NDArray[Any]:
        held = [i for i, value in enumerate(data[0]) if value]
        names = [*(items[i] for i in held), _NOTHING]  # weight 0: never there, so nobody is missing
        own = [*(float(weights[i]) for i in held), 0.0]
        who = np.repeat(np.arange(n), len(names))
        people = PeopleProfiles.of(who, np.tile(np.array(names), n), np.tile(np.array(own), n))
        words = mechanism.publish(people, Source.system()).words
        bits = [(words[:, p // 64] >> np.uint64(p % 64)) & np.uint64(1) for p in used]
        return np.stack(bits, axis=1).astype(np.int64)

    part = Part(
        law=lambda data: blip_law(mechanism, _plain(data[0], weights), items),
        claims=claims,
        outcomes=2 ** len(used),
    )
    return Case(name=mechanism.name, world=Profiles(items), claims=claims, parts=(part,), draw=draw)


def make_mapping(mechanism: Section, domain: Section) -> ProfileMapping:
    """From rows of chances, the joint law with the secret, and distances."""
    rows = [
        Section({"rows": row}, mechanism.path).numbers("rows") for row in mechanism.listed("rows")
    ]
    joint = [
        Section({"joint": row}, mechanism.path).numbers("joint")
        for row in mechanism.listed("joint")
    ]
    size = len(rows)
    if any(len(row) != size for row in (*rows, *joint)):
        mechanism.wrong("rows", f"rows and joint must have {size} numbers in each row")
    far = 1 - np.eye(size)
    if "distance" in mechanism:
        far = np.array(
            [
                [float(x) for x in Section({"distance": row}, mechanism.path).numbers("distance")]
                for row in mechanism.listed("distance")
            ]
        )
    for row in rows:
        if sum(row) != 1 or min(row) < 0:
            mechanism.wrong("rows", f"rows must be chances that sum to 1, got a sum of {sum(row)}")
    table = np.array([[float(x) for x in row] for row in rows])
    starts = np.concatenate([[0], np.cumsum((table > 0).sum(axis=1))])
    channel = Channel(starts, np.nonzero(table)[1], table[table > 0])
    return ProfileMapping.of(
        channel,
        [[float(x) for x in row] for row in joint],
        distance_matrix(far),
        secret=mechanism.text("secret", "the secret"),
        unit_of_distortion=mechanism.text("unit_of_distortion", "share of profiles changed"),
    )


def mapping_case(
    mechanism: ProfileMapping, domain: Section, claim: Section | None, loss: Loss
) -> Case:
    """What it tells on average, recomputed; and as a warning what one pair of profiles loses."""
    assert isinstance(loss, MutualInformation)  # noqa: S101, what it promises
    rows, joint, distance = mapping_tables(mechanism)
    claims: dict[str, Any] = {"bits": loss.bits, "distortion": loss.distortion}
    if loss.maximal_bits is not None:
        claims["maximal_bits"] = loss.maximal_bits
    if loss.guesses is not None:
        claims["guesses"] = loss.guesses[1]
    claims = {name: Fraction(value) for name, value in claims.items()}
    if claim is not None:
        claims = {name: claim.number(name, own) for name, own in claims.items()}
    figures = verify_leak(rows, joint, claims=claims, distance=distance)
    names = {f"profile {j}": row for j, row in rows.items()}
    epsilon = None if claim is None else claim.number("epsilon", None)
    told: dict[Hashable, Fraction] = {} if epsilon is None else {"profile": epsilon}
    part = Part(law=names.__getitem__, claims=told, outcomes=len(rows))
    return Case(
        name=mechanism.name,
        world=Listed(tuple(names), None, "profile"),
        claims=told,
        parts=(part,) if told else (),
        figures=figures,
        exact=True,
    )


def _weights(domain: Section, key: str) -> tuple[tuple[str, ...], tuple[Fraction, ...]]:
    """Items with weights from 0 to 1; a list of names is of weight 1."""
    if isinstance(domain.held.get(key), list):
        names = tuple(map(str, domain.listed(key)))
        return names, (Fraction(1),) * len(names)
    told = domain.section(key)
    weights = tuple(told.number(name) for name in told.held)
    for name, weight in zip(told.held, weights, strict=True):
        if not 0 <= weight <= 1:
            told.wrong(name, f"{name} must be a weight from 0 to 1, got {float(weight):g}")
    return tuple(told.held), weights


def _values(domain: Section) -> tuple[Fraction, ...]:
    values = tuple(sorted(set(domain.numbers("values", (Fraction(0), Fraction(1))))))
    if values[0] < 0 or values[-1] > 1 or len(values) < 2:
        domain.wrong("values", "values must be two or more from 0 to 1")
    return values


def _catalogue(domain: Section) -> Catalogue:
    """Items by name, each with what it has of every attribute."""
    told = domain.section("catalogue")
    rows = {item: told.section(item) for item in told.held}
    attributes = tuple(dict.fromkeys(name for row in rows.values() for name in row.held))
    matrix = [
        [float(row.number(name, Fraction(0))) for name in attributes] for row in rows.values()
    ]
    return Catalogue.of(matrix, attributes=attributes, items=tuple(rows))


def _plain(values: Any, weights: Any) -> Weighted:
    return tuple(float(x) for x in values), tuple(float(w) for w in weights)
