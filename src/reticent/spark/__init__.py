"""Releases over people whose data are on a cluster: DataFrames in, Parquet out, one answer each.

Theory    docs/theory/parts.md, Theorem 1 (one answer and one charge)

A thin skin over ``tasks``: what is drawn for a person is decided there, and a seeded source draws
the same here as anywhere else. ``publishing`` sees to one answer and one charge for everybody, and
there is a module for each task that scales out. PySpark is needed when something is called, not
when it is imported: ``pip install 'reticent[spark]'``, and Java 17.
"""

from reticent.spark.histogram import release_histograms
from reticent.spark.influence import release_influential
from reticent.spark.profiles import learn_profiles, release_profiles
from reticent.spark.publishing import Released, release
from reticent.spark.similarity import release_neighbours, release_pairs

__all__ = [
    "Released",
    "learn_profiles",
    "release",
    "release_histograms",
    "release_influential",
    "release_neighbours",
    "release_pairs",
    "release_profiles",
]
