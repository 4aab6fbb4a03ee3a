"""The GitHub developers graph, bundled: who follows each other, public.

Source    Rozemberczki, B., Allen, C. & Sarkar, R. (2019). Multi-scale Attributed Node Embedding.
          https://github.com/benedekrozemberczki/MUSAE, MIT licence (bundled/ATTRIBUTION.md)
Not here  graphs in general (graphs.py), what is released about it (cli/demo_graph.py, tasks).

Nodes are numbers: the file as published replaces names by them.
"""

from __future__ import annotations

import lzma
from importlib import resources

import numpy as np

from reticent.data.graphs import Graph

GITHUB_SIZE = 37_700
"""How many developers there are, as published: a public number."""

_FILE = "github.edges.csv.xz"


def load_github() -> Graph:
    """All developers and the links between them.

    >>> from reticent.data.github import load_github
    >>> load_github()
    Graph(37700 nodes)
    """
    packed = (resources.files("reticent.data") / "bundled" / _FILE).read_bytes()
    _, lines = lzma.decompress(packed).split(b"\n", 1)
    ends = np.array(lines.replace(b"\n", b",").split(b",")[:-1], dtype=np.int64)
    return Graph.of_edges(ends.reshape(-1, 2), nodes=GITHUB_SIZE)
