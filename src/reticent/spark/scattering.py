"""Heavy work of one draw, shared out to the tasks of a cluster.

Not here  which work that is (tasks/centrality.py, tasks/similarity.py).

What the work reads goes to every task: in the task itself or, if it is large, in a file that all
machines can read. What tasks make is private: it comes back to the driver, which makes the draw. A
task that Spark runs again, or twice, counts once.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from reticent.spark.workers import in_arrow
from reticent.tasks.batched import arrow
from reticent.tasks.charged import new_key


@dataclass(frozen=True, slots=True, eq=False)
class SparkScatter:
    """See ``Scatter``; ``shared`` is a folder that all machines see."""

    spark: Any
    shared: str | Path | None = None
    peers_at_once: int | None = None

    def __call__(self, work: Callable[[Any, int], Any], data: Any, parts: int) -> list[Any]:
        """Each part is a task."""
        tasks = self.spark.range(parts, numPartitions=parts)
        with self.carried(data) as carried:
            done = in_arrow(tasks, _working(work, carried), "part long, made binary")
            rows = done.collect()  # all at once: one by one, tasks would run one by one
        made = {row.part: pickle.loads(bytes(row.made)) for row in rows}  # noqa: S301  # ours
        return [made[part] for part in range(parts)]

    @contextmanager
    def carried(self, data: Any) -> Iterator[Callable[[], Any]]:
        """How tasks get at the data; a file is removed in the end."""
        if self.shared is None:
            yield lambda: data
            return
        path = Path(self.shared).absolute() / f"scattered-{new_key()}.pickle"
        try:
            path.touch(mode=0o600)
            path.write_bytes(pickle.dumps(data, protocol=5))
            yield lambda: _read(str(path))
        finally:
            path.unlink(missing_ok=True)


@lru_cache(maxsize=1)
def _read(path: str) -> Any:
    return pickle.loads(Path(path).read_bytes())  # noqa: S301  # which the driver wrote


def _working(
    work: Callable[[Any, int], Any], carried: Callable[[], Any]
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def run(batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow()
        for batch in batches:
            parts = batch.column(0).to_pylist()
            made = [pickle.dumps(work(carried(), part), protocol=5) for part in parts]
            cells = [pa.array(parts, pa.int64()), pa.array(made, pa.binary())]
            yield pa.RecordBatch.from_arrays(cells, names=["part", "made"])

    return run
