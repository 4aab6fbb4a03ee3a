"""Releases about data that are on a cluster: every query, by one function.

Theory    docs/theory/parts.md, Theorem 1 (one answer and one charge)

``release`` takes a query and DataFrames, and answers as ``Query.release`` does. PySpark is needed
when it is called, not when it is imported: ``pip install 'reticent[spark]'``, and Java 17.
"""

from reticent.spark.releasing import release

__all__ = ["release"]
