"""Paper 3, sparse privacy-preserving mappings: Figures 1 to 7 and Table 1, and what lies beyond.

datasets     laws of secret and profile: the census, films, and made ones
results      points of figures, and how curves are read between points
curves       leak against distortion for mappings and for what they are compared with
solvers      the paper's own example and algorithm: how near the least leak, and at what cost
anatomy      which profiles and which features a mapping changes
attacks      ROC curves of attackers before and after
priors       what is left when people are not as the law says
statements   the paper's claims, each with a verdict (claims_method, claims_data)
plots        the figures
report       docs/papers/mappings.md

Run ``python -m experiments.mappings --help``.
"""
