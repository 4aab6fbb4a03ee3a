"""Solvers that know nothing of privacy."""
