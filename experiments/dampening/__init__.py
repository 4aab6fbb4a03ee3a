"""Paper 4, local dampening: its Figure 2, percentiles, running time, and what the claims rest on.

datasets         graphs and values that are run on, and what is not there
influence        Figure 2: influential nodes by seven mechanisms, and what each needs
percentile       expected errors of who is at a percentile, from the law
scalability      time against the size of the graph and the number of candidates
counterexamples  small cases on which a definition or a bound of the paper fails
results          how curves over budgets are read
claims_figures   claims about figures
claims_theory    claims about definitions, bounds and what is public
statements       all claims, each with a verdict
plots            the figures
report           docs/papers/dampening.md

Run ``python -m experiments.dampening --help``.
"""
