"""Paper 2, multi-level privacy controls: Figures 2 to 4, its case study, and what lies beyond.

datasets     what is run on, and what is not there; the budgets people draw
utility      the paper's four measures for proportional scaling and the three optima
timing       what a plan costs, and what a general solver costs
beyond       noise on whole numbers, and knowing what can be true
case_study   recommendations from a profile that a noisy histogram could have come from
statements   the paper's claims, each with a verdict
plots        the figures
report       docs/papers/multilevel.md

Run ``python -m experiments.multilevel --help``.
"""
