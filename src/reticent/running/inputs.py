"""Tables of any size, cut into parts that processes read by themselves.

Notation  a piece = some row groups of a Parquet file, some batches of an Arrow file, or a file of
          rows that was set aside
Not here  tables with a line per item (gathering.py), what is drawn (drawing.py).

How a file is cut depends on the file alone, so a run that is taken up again finds the same parts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

from reticent.data.interactions import TableError
from reticent.data.list_columns import holds_lists
from reticent.data.profiles import number_of
from reticent.errors import ParameterError, require
from reticent.tasks.batched import arrow

Format: TypeAlias = Literal["parquet", "arrow", "csv", "lines"]
FORMATS: dict[str, Format] = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".csv": "csv",
    ".csv.gz": "csv",
}
ROWS = 1 << 17
"""Rows of a part, or a whole row group if that is larger."""
BATCH = 1 << 16
"""Rows that are held in memory at a time."""
NUMBERS = "whole numbers"
"""What names may be, besides text."""
_CSV_BLOCK = 1 << 24  # bytes
_ENDS = 1 << 16  # bytes of either end of a file that tell it from another


@dataclass(frozen=True, slots=True)
class Piece:
    """Row groups, or batches, ``first`` to ``last`` - 1 of a file with so many rows.

    Of lines: the bucket ``first`` in a folder, with so many lines.
    """

    file: str
    format: Format
    first: int
    last: int
    rows: int

    def plain(self) -> dict[str, Any]:
        """As plain data for a manifest."""
        return asdict(self)


def format_of(path: Path) -> Format:
    """How a file is to be read, by its name."""
    name = path.name.casefold()
    found = [kind for suffix, kind in FORMATS.items() if name.endswith(suffix)]
    if not found:
        raise ParameterError("table", f"files named {', '.join(FORMATS)}", path.name)
    return found[0]


def files_of(inputs: Sequence[str | Path]) -> list[Path]:
    """Files as they are given; of a folder, those in it that are not hidden."""
    found: list[Path] = []
    for given in map(Path, inputs):
        if given.is_dir():
            inside = sorted(path for path in given.iterdir() if path.name[0] not in "._")
            require(bool(inside), "table", given.name, "a file, or a folder with some in it")
            found += inside
        else:
            found.append(given)
    for path in found:
        format_of(path)
        if not path.is_file():
            raise TableError(path.name, "is not there")
    require(bool(found), "table", "none", "one or more")
    return found


def pieces_of(files: Sequence[Path], rows: int = ROWS) -> list[Piece]:
    """Parquet and Arrow files in pieces of at least ``rows`` rows, or what is left of a file."""
    found: list[Piece] = []
    for path in files:
        sizes = _sizes(path)
        first = held = 0
        for place, size in enumerate(sizes, start=1):
            held += size
            if held >= rows or place == len(sizes):
                found.append(Piece(str(path.absolute()), format_of(path), first, place, held))
                first, held = place, 0
    return found


def _sizes(path: Path) -> list[int]:
    """Rows of each row group or batch."""
    with _readable(path):
        if format_of(path) == "parquet":
            meta = import_module("pyarrow.parquet").read_metadata(path)
            return [meta.row_group(place).num_rows for place in range(meta.num_row_groups)]
        with _arrow_file(path) as file:
            return [file.get_batch(place).num_rows for place in range(file.num_record_batches)]


def batches_of(piece: Piece, columns: Sequence[str]) -> Iterator[Any]:
    """The rows of a piece, as record batches of those of ``columns`` that the file has."""
    path = Path(piece.file)
    with _readable(path):
        if piece.format == "parquet":
            parquet = import_module("pyarrow.parquet")
            coded = _texts(parquet.read_metadata(path).schema, columns[1:])
            with parquet.ParquetFile(path, memory_map=True, read_dictionary=coded) as file:
                wanted = [name for name in file.schema_arrow.names if name in columns]
                groups = list(range(piece.first, piece.last))
                yield from file.iter_batches(
                    batch_size=BATCH, row_groups=groups, columns=wanted, use_threads=False
                )
            return
        with _arrow_file(path) as file:
            for place in range(piece.first, piece.last):
                batch = file.get_batch(place)
                wanted = [name for name in batch.schema.names if name in columns]
                batch = batch.select(wanted)
                for at in range(0, batch.num_rows, BATCH):
                    yield batch.slice(at, BATCH)


def _texts(schema: Any, columns: Sequence[str]) -> list[str]:
    """Columns of text, which Parquet holds as numbers of texts: there is no need to spell them.

    Those in lists must be spelt: Arrow does not read them otherwise from several row groups.
    """
    leaves = [schema.column(place) for place in range(len(schema))]
    texts = [leaf.path for leaf in leaves if leaf.logical_type.type == "STRING"]
    return [path for path in texts if path in columns]


def csv_batches(path: Path, columns: Sequence[str], numbers: Collection[str] = ()) -> Iterator[Any]:
    """The rows of a CSV file as batches of text and of ``numbers``; what is empty is missing."""
    with _readable(path), _csv_lines(path, columns) as lines:
        for batch in lines:
            for name in numbers:
                place = batch.schema.get_field_index(name)
                batch = batch.set_column(place, name, as_numbers(batch.column(name)))
            yield batch


def as_numbers(column: Any) -> Any:
    """Cells as numbers, each read by itself; what is none is missing."""
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        return column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([number_of(cell) for cell in column.to_pylist()], pa.float64())


def columns_in(path: Path) -> list[str]:
    """Names of the columns of a file."""
    return list(_schema(path).names)


def kind_of(path: Path, column: str) -> str:
    """What a column of names holds: numbers, text, or something else. CSV holds text."""
    if format_of(path) == "csv":
        return "text"
    pa, kind = arrow(), _schema(path).field(column).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return NUMBERS if pa.types.is_integer(kind) else "text"


def lists_in(path: Path) -> list[str]:
    """Names of the columns that hold lists."""
    return [field.name for field in _schema(path) if holds_lists(field)]


def _schema(path: Path) -> Any:
    with _readable(path):
        if format_of(path) == "parquet":
            return import_module("pyarrow.parquet").read_schema(path)
        if format_of(path) == "arrow":
            with _arrow_file(path) as file:
                return file.schema
        with _csv_lines(path, None) as lines:
            return lines.schema


def _arrow_file(path: Path) -> Any:
    """Mapped, so that a batch takes no memory before its columns are read."""
    return import_module("pyarrow.ipc").open_file(arrow().memory_map(str(path)))


def _csv_lines(path: Path, columns: Sequence[str] | None) -> Any:
    """All cells as text; lines may break within quotes."""
    csv, pa = import_module("pyarrow.csv"), arrow()
    packed = "gzip" if path.name.casefold().endswith(".gz") else None
    return csv.open_csv(
        pa.input_stream(str(path), compression=packed),
        read_options=csv.ReadOptions(block_size=_CSV_BLOCK, use_threads=False),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            include_columns=None if columns is None else list(columns),
            column_types=None if columns is None else dict.fromkeys(columns, pa.string()),
            strings_can_be_null=True,
            null_values=[""],
            quoted_strings_can_be_null=True,
        ),
    )


def fingerprint(files: Sequence[Path]) -> str:
    """Tells whether files are those of an earlier run: sizes, times and both ends of each."""
    digest = hashlib.sha256()
    for path in files:
        about = path.stat()
        digest.update(f"{path.absolute()}\0{about.st_size}\0{about.st_mtime_ns}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(_ENDS))
            file.seek(max(about.st_size - _ENDS, 0))
            digest.update(file.read(_ENDS))
    return digest.hexdigest()


class _readable:  # noqa: N801, reads as a word after ``with``
    """What Arrow says of a broken file may hold its values: it is not passed on."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        arrow()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, arrow().lib.ArrowException):
            told = f"cannot be read as {format_of(self.path).capitalize()}"
            raise TableError(self.path.name, told) from None
        if isinstance(error, OSError):
            raise TableError(self.path.name, "cannot be read") from None
