"""The audit of the noise passes here, and fails on wrong noise and on a blind check."""

from fractions import Fraction

import pytest

from reticent.cli import audit_checks
from reticent.cli.audit_checks import CHECKS, Finding
from reticent.noise import discrete_laplace

GOOD = Finding("a check", True, "fine", True, "noticed")


@pytest.fixture
def stand_ins(monkeypatch):
    """Replace the four checks by findings that cost no time."""

    def install(*findings: Finding) -> None:
        monkeypatch.setattr(
            audit_checks, "CHECKS", {f.check: lambda quick, f=f: f for f in findings}
        )

    return install


def test_the_noise_of_this_installation(cli) -> None:
    ended = cli("audit", "noise", "--quick", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["schema"] == "audit-noise/1"
    assert ended.json["passed"]
    assert [check["check"] for check in ended.json["checks"]] == list(CHECKS)
    assert all(check["control_flagged"] for check in ended.json["checks"])


def test_printed_as_a_table(cli, stand_ins) -> None:
    stand_ins(GOOD)
    ended = cli("audit", "noise")
    assert ended.code == 0
    assert ended.out.splitlines()[2].split("  ") == ["a check", "ok: fine", "flagged: noticed"]


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        (Finding("x", False, "too thin", True, "noticed"), "FAILED: too thin"),
        (Finding("x", True, "fine", False, "unnoticed"), "NOT FLAGGED: unnoticed"),
    ],
    ids=["wrong noise", "blind check"],
)
def test_a_finding_is_exit_code_1(cli, stand_ins, bad, word) -> None:
    stand_ins(GOOD, bad)
    ended = cli("audit", "noise")
    assert ended.code == 1
    assert word in ended.out
    assert "do not release" in ended.err


def thin(*, scale, **others):
    return discrete_laplace(scale=scale * Fraction(98, 100), **others)


@pytest.mark.parametrize("name", ["law at every magnitude", "fast path"])
def test_thin_noise_fails_the_proof(monkeypatch, name) -> None:
    monkeypatch.setattr(audit_checks, "discrete_laplace", thin)
    finding = CHECKS[name](quick=True)
    assert not finding.sound
    assert finding.control_flagged


def test_thin_noise_fails_the_statistics(monkeypatch) -> None:
    monkeypatch.setattr(
        audit_checks,
        "_drawn",
        lambda scale, size, draw=audit_checks._drawn: draw(scale * Fraction(98, 100), size),
    )
    assert not CHECKS["goodness of fit"](quick=True).sound


def test_thin_noise_fails_the_audit(monkeypatch) -> None:
    monkeypatch.setattr(
        audit_checks,
        "_audit",
        lambda epsilon, samples, audit=audit_checks._audit: audit(
            epsilon / Fraction(98, 100), samples
        ),
    )
    assert not CHECKS["audit of DiscreteLaplace"](quick=True).sound
