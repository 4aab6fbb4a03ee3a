"""What one person allows: the preferences file, its meaning, and which line decides."""

from reticent.errors import Refused
from reticent.preferences.decisions import Decision, Rule
from reticent.preferences.file import Grant, Preferences, find_problems
from reticent.preferences.model import Provider
from reticent.preferences.problems import PreferencesError, Problem

__all__ = [
    "Decision",
    "Grant",
    "Preferences",
    "PreferencesError",
    "Problem",
    "Provider",
    "Refused",
    "Rule",
    "find_problems",
]
