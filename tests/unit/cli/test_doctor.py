"""The doctor is healthy here, and notices each thing it looks for."""

import hashlib
import os

import pytest

from reticent.cli import doctor_checks
from reticent.cli.doctor_checks import CHECKS, Check, examine
from reticent.noise import Source
from reticent.testing import law


@pytest.fixture(scope="module")
def report():
    return examine()


def test_this_installation_is_healthy(report) -> None:
    assert [check for check in report.checks if not check.passed] == []
    assert report.healthy
    assert report.processors >= 1


def test_parts_and_extras_are_those_declared(report) -> None:
    names = [part.name for part in report.parts]
    assert names[:2] == ["reticent", "python"]
    assert {"cryptography", "numpy", "pydantic", "scipy", "typer"} <= set(names)
    assert {"console", "opendp", "spark", "test"} <= {extra.name for extra in report.extras}
    assert all(check.name == name for name, check in zip(CHECKS, report.checks, strict=True))


def test_printed_and_as_json(cli, report, monkeypatch) -> None:
    monkeypatch.setattr(doctor_checks, "examine", lambda: report)  # each takes half a second
    printed = cli("doctor")
    assert (printed.code, printed.err) == (0, "")
    assert "AES-256 in counter mode  ok" in printed.out
    told = cli("doctor", "--json")
    assert told.json["schema"] == "doctor/1"
    assert told.json["healthy"]
    assert {check["name"] for check in told.json["checks"]} == set(CHECKS)


def test_a_wrong_cipher_is_noticed(monkeypatch) -> None:
    monkeypatch.setattr(doctor_checks, "_AES_CIPHER", "00" * 64)
    assert not CHECKS["AES-256 in counter mode"]().passed


def test_a_seeded_source_is_noticed(monkeypatch) -> None:
    monkeypatch.setattr(Source, "system", lambda: Source.seeded(1))
    assert not CHECKS["system random source"]().passed
    assert not CHECKS["sources differ"]().passed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_with_the_parents_stream_is_noticed(monkeypatch) -> None:
    seed = hashlib.sha256(b"one stream").digest()
    monkeypatch.setattr(Source, "system", lambda: Source(_seed=seed))  # seeded: goes on unchanged
    assert not CHECKS["forked child"]().passed


def test_an_inaccurate_logarithm_is_noticed(monkeypatch) -> None:
    monkeypatch.setattr(law, "log_error", lambda count: 2.0**-45)
    assert not CHECKS["accuracy of log"]().passed


def test_wrong_noise_is_noticed(monkeypatch) -> None:
    monkeypatch.setattr(law, "fast_path_disagreements", lambda scale: 1)
    assert not CHECKS["exact noise"]().passed


def test_a_failed_check_is_exit_code_1(cli, monkeypatch) -> None:
    def broken() -> Check:
        raise RuntimeError("canary-1")

    monkeypatch.setattr(doctor_checks, "CHECKS", {"double precision": broken})
    ended = cli("doctor")
    assert ended.code == 1
    assert "could not run (RuntimeError)" in ended.out
    assert "canary" not in ended.out + ended.err
    assert "do not rely on releases" in ended.err


@pytest.mark.parametrize(
    ("needed", "sufficient"), [(">=0.1", True), (">=999", False), ("", True), ("<5", True)]
)
def test_old_versions_do_not_suffice(needed, sufficient) -> None:
    assert doctor_checks._part("numpy", needed).sufficient is sufficient


def test_what_is_not_installed_does_not_suffice() -> None:
    part = doctor_checks._part("no-such-distribution", ">=1")
    assert (part.version, part.sufficient) == (None, False)
    assert part.cells()[1] == "MISSING"
