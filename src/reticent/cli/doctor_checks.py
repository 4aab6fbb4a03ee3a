"""What ``reticent doctor`` looks at: parts, extras, random source, arithmetic.

Not here  the proof that rests on these (theory of the noise), statistics of the noise (audit.py).

A check that cannot run has failed; it never raises.
"""

from __future__ import annotations

import os
import platform
import re
import struct
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from reticent._version import __version__

# NIST SP 800-38A (2001), F.5.5: CTR-AES256.Encrypt, all four blocks.
_AES_KEY = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
_AES_COUNTER = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
_AES_PLAIN = (
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
_AES_CIPHER = (
    "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
    "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
)
_LOG_LIMIT = 2.0**-46  # what the margins of the noise allow for an error of log
_LOG_SAMPLES = 2_000
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*([^;]*?)\s*(?:;(.*))?$")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


@dataclass(frozen=True, slots=True)
class Part:
    """A program or library, the version found and the version needed."""

    name: str
    version: str | None
    needed: str
    sufficient: bool

    def cells(self) -> tuple[str, str, str]:
        """As a row of a table."""
        if self.version is None:
            return self.name, "MISSING", self.needed
        return self.name, self.version + ("" if self.sufficient else " TOO OLD"), self.needed


@dataclass(frozen=True, slots=True)
class Extra:
    """An optional part of Reticent and the libraries it still lacks."""

    name: str
    missing: tuple[str, ...]

    def cells(self) -> tuple[str, str]:
        """As a row of a table."""
        if not self.missing:
            return self.name, "installed"
        return self.name, f"not installed: pip install 'reticent[{self.name}]'"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must hold, and what was seen."""

    name: str
    passed: bool
    detail: str

    def cells(self) -> tuple[str, str, str]:
        """As a row of a table."""
        return self.name, "ok" if self.passed else "FAILED", self.detail


@dataclass(frozen=True, slots=True)
class Report:
    """Everything the doctor saw."""

    system: str
    processors: int
    parts: tuple[Part, ...]
    extras: tuple[Extra, ...]
    checks: tuple[Check, ...]

    @property
    def healthy(self) -> bool:
        """Whether all parts suffice and all checks passed; extras may be missing."""
        return all(p.sufficient for p in self.parts) and all(c.passed for c in self.checks)


def examine() -> Report:
    """Look at everything."""
    core, extras = _requirements()
    python = Part("python", platform.python_version(), ">=3.11", sys.version_info >= (3, 11))
    return Report(
        system=platform.platform(),
        processors=os.cpu_count() or 1,
        parts=(Part("reticent", __version__, "", True), python, *core),
        extras=extras,
        checks=tuple(_run(name, check) for name, check in CHECKS.items()),
    )


def _run(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except Exception as error:
        return Check(name, passed=False, detail=f"could not run ({type(error).__name__})")


def _requirements() -> tuple[tuple[Part, ...], tuple[Extra, ...]]:
    """Core libraries and extras, as the installed package declares them."""
    try:
        declared = metadata.requires("reticent") or []
    except metadata.PackageNotFoundError:
        return (Part("reticent (installed package)", None, "pip install .", False),), ()
    core: list[Part] = []
    missing: dict[str, list[str]] = {}
    for line in declared:
        read = _REQUIREMENT.match(line)
        name, needed, marker = read.groups(default="") if read else (line, "", "")
        part = _part(name, needed)
        extra = _EXTRA.search(marker)
        if extra is None:
            core.append(part)
        else:
            lacking = missing.setdefault(extra[1], [])
            lacking += [] if part.sufficient else [name]
    return tuple(core), tuple(Extra(name, tuple(lacks)) for name, lacks in missing.items())


def _part(name: str, needed: str) -> Part:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Part(name, None, needed, sufficient=False)
    least = re.search(r">=\s*([0-9.]+)", needed)
    enough = least is None or _numbers(version) >= _numbers(least[1])
    return Part(name, version, needed, enough)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version.split("+")[0])[:3])


def _system_random() -> Check:
    from reticent.noise import Source

    source = Source.system()
    source.bits(256)
    return Check("system random source", source.private, "the operating system gave a key")


def _aes() -> Check:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(
        algorithms.AES(bytes.fromhex(_AES_KEY)), modes.CTR(bytes.fromhex(_AES_COUNTER))
    ).encryptor()
    right = cipher.update(bytes.fromhex(_AES_PLAIN)) == bytes.fromhex(_AES_CIPHER)
    return Check("AES-256 in counter mode", right, "NIST SP 800-38A, F.5.5, four blocks")


def _two_sources() -> Check:
    from reticent.noise import Source

    words = {Source.system().bits(128) for _ in range(64)}
    return Check("sources differ", len(words) == 64, f"{len(words)} of 64 first words are distinct")


def _fork() -> Check:
    if not hasattr(os, "fork"):
        return Check("forked child", True, "this system does not fork")
    from reticent.noise import Source

    source = Source.system()
    source.bits(128)
    reader, writer = os.pipe()
    with warnings.catch_warnings():  # threads of a linear-algebra library do not matter here
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os.write(writer, source.bits(128).to_bytes(16))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    childs = os.read(reader, 16)
    os.close(reader)
    os.close(writer)
    apart = len(childs) == 16 and int.from_bytes(childs) != source.bits(128)
    return Check("forked child", apart, "draws under a key of its own")


def _doubles() -> Check:
    right = struct.pack(">d", 0.1).hex() == "3fb999999999999a" and 0.1 + 0.2 == 0.30000000000000004
    return Check("double precision", right, "IEEE 754, rounded to nearest")


def _log() -> Check:
    from reticent.testing import law

    worst = law.log_error(_LOG_SAMPLES)
    detail = f"worst error {worst:.2g} on {_LOG_SAMPLES} words; the noise allows {_LOG_LIMIT:.2g}"
    return Check("accuracy of log", worst < _LOG_LIMIT, detail)


def _exact_noise() -> Check:
    from reticent.testing import law

    wrong = law.fast_path_disagreements(2)
    detail = f"{wrong} words decided differently from 70 digits, around every step at scale 2"
    return Check("exact noise", wrong == 0, detail)


CHECKS: dict[str, Callable[[], Check]] = {
    "system random source": _system_random,
    "AES-256 in counter mode": _aes,
    "sources differ": _two_sources,
    "forked child": _fork,
    "double precision": _doubles,
    "accuracy of log": _log,
    "exact noise": _exact_noise,
}
