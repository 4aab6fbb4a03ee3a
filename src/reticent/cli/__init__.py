"""The command line: one file for each command, thin over the library.

Nothing heavy is imported at the top of these modules; commands import what they need when they run.
"""
