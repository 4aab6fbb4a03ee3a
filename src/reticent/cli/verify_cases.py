"""From a file to the case it states: which tables it has, and who reads them.

Not here  the reading of one table (verify_file.py), of one kind of mechanism (its siblings).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reticent.cli import verify_local as local
from reticent.cli import verify_numbers as numbers
from reticent.cli import verify_profiles as profiles
from reticent.cli.files import read_text
from reticent.cli.verify_file import Section, WrongFile, beside, by_key
from reticent.cli.verify_queries import query_case
from reticent.cli.verify_tables import law_case, python_case
from reticent.errors import CardError, ParameterError
from reticent.guarantees.card import Card
from reticent.mechanisms import DiscreteLaplace, Exponential, PermuteAndFlip, SnappedLaplace
from reticent.mechanisms.dampening import Dampened
from reticent.mechanisms.mapping import ProfileMapping
from reticent.mechanisms.multilevel import MultiLevel
from reticent.mechanisms.stretching import Stretching
from reticent.mechanisms.top_dampened import TopDampened
from reticent.mechanisms.tree import PrivateTree
from reticent.mechanisms.verification import rebuild
from reticent.preferences.problems import Fault
from reticent.tasks.blip import Blip
from reticent.testing.cases import Case

_MAKERS: dict[str, Callable[[Section, Section], Any]] = {
    DiscreteLaplace.name: numbers.make_discrete_laplace,
    SnappedLaplace.name: numbers.make_snapped_laplace,
    Exponential.name: numbers.make_selection(Exponential),
    PermuteAndFlip.name: numbers.make_selection(PermuteAndFlip),
    Dampened.name: local.make_dampened,
    TopDampened.name: local.make_top_dampened,
    PrivateTree.name: local.make_tree,
    Stretching.name: profiles.make_stretching,
    MultiLevel.name: profiles.make_multi_level,
    Blip.name: profiles.make_blip,
    ProfileMapping.name: profiles.make_mapping,
}
_CASES: dict[type, Callable[..., Case]] = {
    DiscreteLaplace: numbers.counts_case,
    SnappedLaplace: numbers.reals_case,
    Exponential: numbers.selection_case,
    PermuteAndFlip: numbers.selection_case,
    Dampened: local.dampened_case,
    TopDampened: local.dampened_case,
    PrivateTree: local.tree_case,
    Stretching: profiles.stretching_case,
    MultiLevel: profiles.multi_level_case,
    Blip: profiles.blip_case,
    ProfileMapping: profiles.mapping_case,
}
MECHANISMS = tuple(_MAKERS)


def case_of(root: Section, *, file: Path, run_code: bool) -> Case:
    """The case that a file states; everything in it was understood."""
    root.close("mechanism", "law", "query", "domain", "claim")
    if "query" in root:
        return query_case(root.section("query"))
    claim = root.section("claim", None)
    if "law" in root:
        law, domain = root.section("law"), root.section("domain", None)
        case = law_case(law, domain, claim)
        sections = [law, domain]
    else:
        mechanism = root.section("mechanism")
        case, domain = _mechanism_case(root, mechanism, claim, file=file, run_code=run_code)
        sections = [mechanism, domain]
    for section in (*sections, claim):
        if section is not None:
            section.close()
    if not case.figures and next(case.world.pairs(), None) is None:
        raise WrongFile(Fault(("domain",), "the domain has no two neighbours: nothing to compare"))
    return case


def _mechanism_case(
    root: Section, mechanism: Section, claim: Section | None, *, file: Path, run_code: bool
) -> tuple[Case, Section]:
    if "python" in mechanism:
        domain = root.section("domain")
        return python_case(mechanism, domain, claim, file=file, run_code=run_code), domain
    if "from_card" in mechanism:
        made, loss = _from_card(mechanism, file)
        domain = root.section("domain", Section({}, ("domain",)))
        domain.asked |= {"unit", "relation"}  # the card knows them
    else:
        name = mechanism.text("name", among=MECHANISMS)
        domain = root.section("domain", Section({}, ("domain",)))
        try:
            made = _MAKERS[name](mechanism, domain)
        except ParameterError as error:
            raise by_key(error, mechanism) from None
        loss = made.guarantee()
    try:
        return _CASES[type(made)](made, domain, claim, loss), domain
    except ParameterError as error:
        raise by_key(error, domain) from None


def _from_card(mechanism: Section, file: Path) -> tuple[Any, Any]:
    """The mechanism that a card's event rebuilds, and the loss that the card states."""
    path = beside(file, mechanism.text("from_card"))
    try:
        event = Card.from_json(read_text(path)).release_event()
        return rebuild(event), event.loss
    except CardError as error:
        mechanism.wrong("from_card", f"{path}: {error}")
