"""Preferences files that are made to cost much, and the longest ones that are read."""

import gc
import time
import tracemalloc
from collections.abc import Callable

SIZE = 250_000
SECONDS, MEGABYTES = 1.0, 100.0


def many(line: Callable[[int], str], *, most: int = 10**6) -> str:
    """So many different lines that they fill a file."""
    made, size = ["version = 1\n"], 0
    while size < SIZE - 12 and len(made) <= most:
        made.append(line(len(made)))
        size += len(made[-1])
    return "".join(made)


HOSTILE = {
    "dotted key": "version = 1\n" + "a." * (SIZE // 2 - 10) + "b = 1\n",
    "dotted header": "version = 1\n[" + "a." * (SIZE // 2 - 10) + "b]\n",
    "dotted keys": many(lambda n: f"a{n}.b.c.d.e.f.g.h = 1\n"),
    "arrays": "version = 1\na = " + "[" * (SIZE // 2) + "]" * (SIZE // 2 - 20),
    "inline tables": "version = 1\na = " + "{a=" * (SIZE // 4) + "1" + "}" * (SIZE // 4 - 20),
    "wide array": "version = 1\na = [" + "[]," * (SIZE // 3) + "]",
    "wide inline table": "version = 1\na = {" + ",".join(f"b{n}=1" for n in range(25_000)) + "}",
    "tables": many(lambda n: f"[t{n}]\n"),
    "nested tables of arrays": many(lambda n: f"[[{'.'.join('a' * n)}]]\n"),
    "long string": 'version = 1\na = "' + "x" * (SIZE - 20) + '"\n',
    "many lines of a string": 'version = 1\na = """' + "\n" * (SIZE - 20) + '"""\n',
    "long name": "version = 1\n" + "a" * (SIZE - 20) + " = 1\n",
    "short keys": many(lambda n: f"a{n}=1\n"),
    "empty lines": "version = 1\n" + "\n" * (SIZE - 20),
    "digits": "version = 1\na = " + "1" * (SIZE - 20),
    "hexadecimal digits": "version = 1\nitems.a = 0x" + "f" * (SIZE - 30),
    "unclosed quotes": many(lambda n: '"\n'),
}
LONGEST = {
    "items": "version = 1\n[items]\n"
    + many(lambda n: f'"item {n:05} of a film" = 0.5\n', most=5900)[12:],
    "wrong items": "version = 1\n[items]\n"
    + many(lambda n: f'"item {n:05}" = 2.5\n', most=5900)[12:],
    "unknown keys": many(lambda n: f"attributs{n:05} = 2\n", most=5900),
    "providers": many(
        lambda n: f"providers.p{n:05}.epsilon = 1\nproviders.p{n:05}.items.x = 0.5\n", most=2900
    ),
    "levels": many(lambda n: f"a{n:05}.b.c.d.e.f = 1\n", most=5900),
}


def cost(work: Callable[[], object]) -> float:
    """CPU seconds, the least of three runs: on a busy machine a single one costs up to twice.

    What other tests have left in memory is not looked through meanwhile.
    """
    found = []
    for _ in range(3):
        gc.disable()
        try:
            begin = time.process_time()
            work()
            found.append(time.process_time() - begin)
        finally:
            gc.enable()
        if found[-1] < SECONDS / 2:
            break
    return min(found)


def peak(work: Callable[[], object]) -> float:
    """Megabytes that work takes at most."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
