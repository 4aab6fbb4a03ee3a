"""A recoding as text that a device can read: JSON, whole numbers as text, checked when read.

Not here  what a recoding is (recoding.py).

The text holds what drawing needs: the profiles, the chances of what each becomes, and how often
each is released (a gateway draws from that in place of who withholds). Of the law of profiles and
secrets it holds figures to three digits, and no value of a secret. Still it is learnt from people
without noise: it is no differentially private release of them.

A file holds such text alone, or an answer of the query ``mapping``, of which it is a part.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reticent.errors import ParameterError, ReticentError, require
from reticent.mechanisms.mapping import ProfileMapping
from reticent.mechanisms.mapping_statement import Statement
from reticent.tasks.recoding import Measure, Recoding

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCHEMA = "profile-mapping/2"
_FIRST = "profile-mapping/1"  # held the joint law
_ANSWER = "answer/"  # what queries write
KIND = "mapping"  # the query whose answers hold one, under this name

_AGAIN = (
    "learnt again with reticent release mapping: version 0.1 wrote the joint table of its training "
    "people into the file; delete that file and its copies"
)


class MappingError(ReticentError):
    """A file that is no mapping which can be used; ``why`` says it."""

    def __init__(self, what: str, why: str) -> None:
        self.what, self.why = what, why
        super().__init__(f"{what}: {why}")

    def __reduce__(self) -> tuple[type[MappingError], tuple[str, str]]:
        return MappingError, (self.what, self.why)


def read_recoding(held: Recoding | str | Path) -> Recoding:
    """The mapping in a file, or as it is; a file that was changed, cut or is another is refused.

    So is a mapping of numbers: tables are read as text, and it would know nobody.
    """
    called = "the mapping" if isinstance(held, Recoding) else str(held)
    recoding = held if isinstance(held, Recoding) else _of_file(Path(held))
    if all(isinstance(value, str) for row in recoding.profiles.tolist() for value in row):
        return recoding
    why = "tables are read as text; Recoding.release_frame releases through it in Python"
    raise MappingError(f"{called} is a mapping of numbers", why)


def _of_file(path: Path) -> Recoding:
    try:
        return recoding_from_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        why = "it is not text in UTF-8"
    except ParameterError as error:
        why = str(error)
    except RecursionError:
        why = "it is nested too deeply"
    raise MappingError(f"{path} is no mapping that can be used", why)


def recoding_to_json(recoding: Recoding) -> str:
    """The recoding as JSON text, equal for equal recodings."""
    return _text(recoding_to_plain(recoding)) + "\n"


def recoding_to_plain(recoding: Recoding) -> dict[str, Any]:
    """The recoding as JSON holds it."""
    if callable(recoding.measure.kind):
        raise ParameterError("measure", "hamming or squared in a file", "a function")
    mechanism = recoding.mechanism
    learnt = mechanism.law is None and mechanism.nonce != ""
    require(learnt, "mechanism", "one of a declared law", "learnt from people (learn_mapping)")
    categories, codes = _coded(recoding.profiles)
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "sha256": mechanism.sha256,
        "nonce": mechanism.nonce,
        "secret": mechanism.secret,
        "prior": mechanism.prior,
        "statement": mechanism.statement.to_dict(),
        "measure": {"kind": recoding.measure.kind, "weights": recoding.measure.weights},
        "unknown": recoding.unknown,
        "radius": None if math.isinf(recoding.radius) else recoding.radius,
        "columns": list(recoding.columns),
        "categories": categories,
        "profiles": codes,
        "starts": mechanism.starts.tolist(),
        "outs": mechanism.outs.tolist(),
        "parts": [str(part) for part in mechanism.parts.tolist()],
        "cover": mechanism.cover.tolist(),
        "widths": dict(recoding.widths),
    }
    return data | {"file_sha256": _fingerprint(data)}


def recoding_from_json(text: str) -> Recoding:
    """Inverse of ``recoding_to_json``, also within an answer; a changed or cut text is refused."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ParameterError("mapping", "JSON", f"line {error.lineno}: {error.msg}") from None
    except ValueError:  # a number of thousands of digits
        raise ParameterError("mapping", "JSON", "a number that is too long") from None
    return recoding_from_plain(_within(data))


def _within(data: Any) -> Any:
    """What an answer holds; anything else as it is."""
    schema = data.get("schema") if isinstance(data, dict) else None
    if not (isinstance(schema, str) and schema.startswith(_ANSWER)):
        return data
    query, value = data.get("query"), data.get("value")
    good = isinstance(query, dict) and query.get("kind") == KIND and isinstance(value, dict)
    require(good, "mapping", "an answer of another query", f"an answer of {KIND}")
    return value.get(KIND)


def recoding_from_plain(data: Any) -> Recoding:
    """Inverse of ``recoding_to_plain``; what was changed or cut is an error."""
    if isinstance(data, dict) and data.get("schema") == _FIRST:
        raise ParameterError("mapping", _AGAIN, f"one of version 0.1 ({_FIRST})")
    known = isinstance(data, dict) and data.get("schema") == SCHEMA
    require(known, "mapping", "another file", f"of schema {SCHEMA}")
    whole = data.get("file_sha256") == _fingerprint(data)
    require(whole, "mapping", "a changed file", "the file that its fingerprint was taken of")
    try:
        recoding = _recoding(data)
    except ParameterError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
        raise ParameterError("mapping", "whole", "a file with parts missing or changed") from None
    same = recoding.mechanism.sha256 == data.get("sha256")
    require(same, "mapping", "another table", "the one that its fingerprint was taken of")
    return recoding


def _recoding(data: Mapping[str, Any]) -> Recoding:
    profiles = _decoded(data["categories"], data["profiles"])
    weights = data["measure"]["weights"]
    measure = Measure(data["measure"]["kind"], None if weights is None else tuple(weights))
    starts = np.array(data["starts"], dtype=np.int64)
    outs = np.array(data["outs"], dtype=np.int64)
    parts = np.array([int(part) for part in data["parts"]], dtype=np.int64)
    ordered = len(starts) > 1 and starts[0] == 0 and bool((np.diff(starts) > 0).all())
    within = bool(((outs >= 0) & (outs < len(profiles))).all()) and len(profiles) == len(starts) - 1
    require(ordered and within and starts[-1] == len(outs), "mapping", "other", "a whole table")
    mechanism = ProfileMapping(
        starts,
        outs,
        parts,
        np.array(data["cover"], dtype=np.float64),
        Statement.from_dict(data["statement"]),
        data["secret"],
        data["prior"],
        measure.unit,
        nonce=data["nonce"],
    )
    texts = all(isinstance(data[name], str) and data[name] for name in ("secret", "prior", "nonce"))
    require(texts, "mapping", "other", "one that names its secret, its prior and its nonce")
    plain = (str, int, float, bool, type(None))
    named = all(isinstance(value, plain) for held in data["categories"] for value in held)
    require(named, "mapping", "other", "of plain values")
    radius = math.inf if data["radius"] is None else float(data["radius"])
    return Recoding(
        tuple(map(str, data["columns"])),
        profiles,
        mechanism,
        measure,
        data["unknown"],
        radius,
        {str(name): float(width) for name, width in data["widths"].items()},
    )


def _text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _fingerprint(data: Mapping[str, Any]) -> str:
    """Of all that is in the file, in whatever order: SHA-256 against damage, no signature."""
    rest = {key: value for key, value in data.items() if key != "file_sha256"}
    text = json.dumps(rest, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _coded(profiles: NDArray[Any]) -> tuple[list[list[Any]], list[list[int]]]:
    """Each column's distinct values, and the profiles as numbers of them."""
    categories: list[dict[Any, int]] = [{} for _ in range(profiles.shape[1])]
    codes = [
        [seen.setdefault(value, len(seen)) for seen, value in zip(categories, row, strict=True)]
        for row in profiles.tolist()
    ]
    return [list(seen) for seen in categories], codes


def _decoded(categories: list[list[Any]], codes: list[list[int]]) -> NDArray[Any]:
    rows = [[held[code] for held, code in zip(categories, row, strict=True)] for row in codes]
    values = [value for held in categories for value in held]
    if values and all(isinstance(value, (int, float)) for value in values):
        return np.array(rows)
    table = np.empty((len(rows), len(categories)), dtype=object)
    table[:] = rows
    return table
