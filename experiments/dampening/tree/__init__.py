"""Paper 4, decision trees: its Figure 3, what ours gain by, and what the claims rest on.

datasets          Adult and NLTCS as codes, folds, how much is run
methods           DiffPID3 with three laws, and ours
runs              Figure 3, and the same trees without noise
peer              trees of another library, if an interpreter that has it is named
diffprivlib_peer  what that interpreter runs
ablation          one choice changed at a time
facts             small tables on which a bound of the paper or of its code fails
results           means over runs with their intervals
statements        the paper's claims, each with a verdict
plots             the figures
report            docs/papers/trees.md

Run ``python -m experiments.dampening.tree --help``.
"""
