"""A case is counted before it is enumerated, and enumerated in memory that does not grow."""

from fractions import Fraction

from reticent.mechanisms import DiscreteLaplace
from reticent.testing import exact, law_of
from reticent.testing.cases import Case, Part, verify_case, work_of
from reticent.testing.neighbourhoods import Listed, Vectors

F = Fraction


def response(truth: Fraction, claim: Fraction) -> Case:
    rows = {"yes": {1: truth, 0: 1 - truth}, "no": {1: 1 - truth, 0: truth}}
    claims = {"any": claim}
    part = Part(law=rows.__getitem__, claims=claims, outcomes=2)
    return Case(name="coin", world=Listed(("yes", "no")), claims=claims, parts=(part,), exact=True)


def test_a_coin_attains_ln_3_exactly() -> None:
    """Claims on both sides of ln 3, 50 digits of it."""
    below = F("1.09861228866810969139524523692252570464749055782274")
    above = below + F(1, 10**50)
    assert verify_case(response(F(3, 4), above)).holds
    broken = verify_case(response(F(3, 4), below))
    assert broken.broken == ("any",)
    witness = broken.worst["any"]
    assert (witness.p, witness.q) == (F(3, 4), F(1, 4))


def counts(length: int, values: int) -> Case:
    world = Vectors(tuple(map(F, range(values))), length, F(1))
    law = law_of(DiscreteLaplace(epsilon=1, size=length), cuts=(0, values))
    claims = {"record": F(1)}
    part = Part(law=law, claims=claims, outcomes=3**length)
    return Case(name="counts", world=world, claims=claims, parts=(part,))


def test_work_is_counted_and_counting_stops() -> None:
    work = work_of(counts(2, 3))
    assert (work.pairs, work.comparisons, work.more) == (12, 12 * 2 * 9, False)
    huge = work_of(counts(30, 9), most=10**17)
    assert huge.more
    assert huge.pairs <= 10**17 // 3**30


def test_every_pair_ticks() -> None:
    done = []
    found = verify_case(counts(2, 3), tick=lambda: done.append(1))
    assert found.holds
    assert found.pairs == len(done) == 12


def test_old_laws_are_forgotten(monkeypatch) -> None:
    """The same verdict with room for two laws only: memory does not grow with the domain."""
    whole = verify_case(counts(1, 60))
    monkeypatch.setattr(exact, "_MOST_HELD", 7)
    few = verify_case(counts(1, 60))
    assert few == whole
    known = exact._Known(lambda data: {i: F(1, 10) for i in range(10)})
    for data in range(100):
        known.law_on(data)
    assert len(known._laws) == 2
