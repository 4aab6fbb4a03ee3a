"""Queries are tried in the shell, too."""

from tests.unit.cli.conftest import cli

__all__ = ["cli"]
