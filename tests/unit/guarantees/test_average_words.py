"""Every sentence about an average: of whom it is true, and how far, by computing the worst case."""

import itertools
import re
from collections.abc import Iterator

import numpy as np
import pytest

from reticent.guarantees import MutualInformation
from reticent.guarantees.average_words import also_on_average, odds_on_average
from reticent.guarantees.losses import loss_from_dict, loss_to_dict
from reticent.guarantees.samples import HeldOut, Sample
from reticent.mechanisms.mapping import ProfileMapping
from reticent.optim.distances import hamming
from reticent.optim.mapping import Problem
from reticent.optim.mapping_newton import solve_mapping

PROFILES = np.array(list(itertools.product(range(3), range(2))))  # education, sex
INCOMES = 3


def example() -> ProfileMapping:
    """Income goes with education; the profile is changed in few people."""
    given = np.array([[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.1, 0.3, 0.6]])
    mass = np.array([0.2, 0.15, 0.2, 0.15, 0.15, 0.15])
    joint = given[:, PROFILES[:, 0]] * mass
    found = solve_mapping(Problem.of(joint, hamming(PROFILES), 0.1))
    return ProfileMapping.of(found.channel, joint, hamming(PROFILES), secret="income")


def gain(targets: np.ndarray, mapping: ProfileMapping) -> float:
    """By how much a release multiplies the chance to guess a function u(secret, profile)."""
    law = mapping.law
    values = np.unique(targets)
    table = mapping.channel.dense()  # [output, input]
    joint = np.array([(law.joint * (targets == u)).sum(axis=0) for u in values])  # [u, profile]
    return float((joint @ table.T).max(axis=0).sum() / joint.sum(axis=1).max())


def functions_of_the_secret() -> Iterator[np.ndarray]:
    for named in itertools.product(range(INCOMES), repeat=INCOMES):
        yield np.repeat(np.array(named)[:, None], len(PROFILES), axis=1)


def with_education() -> np.ndarray:
    return np.arange(INCOMES)[:, None] * 10 + PROFILES[:, 0]


def factor(sentences: tuple[str, ...]) -> float:
    (told,) = [text for text in sentences if "multiplies" in text]
    return float(re.findall(r"by at most ([0-9]+(?:\.[0-9]+)?)", told)[0])


def test_the_factor_holds_for_every_function_of_the_secret_and_is_attained() -> None:
    mapping = example()
    said = factor(also_on_average(mapping.guarantee()))
    gains = [gain(targets, mapping) for targets in functions_of_the_secret()]
    assert max(gains) <= said
    # "shattered" into equally likely parts the secret attains it: the figure is not too large
    law = mapping.law
    prior = law.joint.sum(axis=1)
    attained = float((law.moments / prior).max(axis=1).sum())
    assert said == pytest.approx(attained, rel=1e-3)


def test_it_does_not_hold_for_the_secret_together_with_something_else() -> None:
    """ "Of anything that depends on income", said 0.1: the same check refutes that."""
    mapping = example()
    said = factor(also_on_average(mapping.guarantee()))
    together = gain(with_education(), mapping)
    assert together > 1.5 * said
    told = " ".join(also_on_average(mapping.guarantee()))
    assert "that follows from income alone" in told
    assert "something else, or anything else, can be multiplied by more" in told
    assert "depends on" not in told


def loss(held: HeldOut | None = None, people: int = 4800) -> MutualInformation:
    sample = Sample(people, 85, held)
    return MutualInformation(0.05, 0.1, "income", "counts", (0.75, 0.76), 0.3, sample)


def test_a_learnt_figure_is_said_to_be_the_samples() -> None:
    odds = odds_on_average(loss())
    assert odds.startswith("Counted among the 4800 people the mapping was learnt from")
    told = also_on_average(loss())
    assert any("may tell more" in text and "56 people per profile" in text for text in told)
    assert any("not protected" in text for text in told)
    declared = MutualInformation(0.05, 0.1, "income", "the declared law")
    assert odds_on_average(declared).startswith("If people follow the declared law")
    assert not any("learnt from" in text for text in also_on_average(declared))


def test_people_held_out_are_on_the_card_with_their_limit() -> None:
    told = also_on_average(loss(HeldOut(1200, 3, 0.0558, 0.12)))
    (said,) = [text for text in told if "1200 other people" in text]
    assert "0.0558 bits" in said
    assert "at most 0.12, with 95 % confidence" in said
    assert not any("was not measured" in text for text in told)
    assert "whose income is a value that training people have, and who are not refused" in said
    assert "3 more had another value or were refused: nothing is known of such people." in told


def test_a_limit_that_says_nothing_is_not_stated() -> None:
    """Nobody was counted, or training people have one value: "at most 0" would promise too much."""
    for held in (HeldOut(0, 180, 0.0, 1.0), HeldOut(90, 90, 0.0, 0.0)):
        told = also_on_average(loss(held))
        assert any("was not measured" in text for text in told)
        assert not any("confidence" in text for text in told)
        assert any(text.startswith(f"{held.left_out} more") for text in told)


def test_losses_with_a_sample_survive_json_and_those_of_0_1_are_read() -> None:
    for one in (loss(), loss(HeldOut(1200, 3, 0.0558, 0.12))):
        assert loss_from_dict(loss_to_dict(one)) == one
    old = loss_to_dict(MutualInformation(0.05, 0.1, "income", "counts"))
    del old["sample"]
    assert loss_from_dict(old).sample is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sample(0, 1),
        lambda: Sample(5, True),
        lambda: HeldOut(5, -1, 0.1, 0.2),
        lambda: HeldOut(5, 0, 0.3, 0.2),
        lambda: HeldOut(5, 0, 0.1, float("inf")),
    ],
)
def test_wrong_samples_are_refused(make) -> None:
    with pytest.raises(ValueError, match="must be"):
        make()
