"""The bundled graph is the one that was published, and is read without its package."""

import hashlib
from importlib import resources

import numpy as np

from reticent.data.github import GITHUB_SIZE, load_github

EDGES = 289_003  # as published
LARGEST = 9_458  # links of one developer, as published
DIGEST = "8896926bdc17f04608a3bc0401cc56d1c1e589f2a81bf7c38d798ea11c3fbe8b"


def test_it_has_the_published_size() -> None:
    graph = load_github()
    assert (graph.size, graph.n_edges) == (GITHUB_SIZE, EDGES)
    assert graph.degrees.max() == LARGEST
    assert graph.degrees.min() >= 1  # everybody has a link, so no node is missing


def test_it_holds_the_published_pairs() -> None:
    pairs = load_github().edges
    assert pairs[0].tolist() == [0, 23_977]
    assert (pairs[:, 0] < pairs[:, 1]).all()
    told = hashlib.sha256(np.ascontiguousarray(pairs, dtype="<i8").tobytes()).hexdigest()
    assert told == DIGEST


def test_it_is_attributed_with_its_licence() -> None:
    text = (resources.files("reticent.data") / "bundled" / "ATTRIBUTION.md").read_text("utf-8")
    for words in ("Rozemberczki", "MIT License", "github.com/benedekrozemberczki/MUSAE"):
        assert words in text
