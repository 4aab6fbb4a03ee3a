"""Paper 1, heterogeneous differential privacy: Figures 1 to 5, and what they cost in privacy.

datasets     what is run on, and what is not there
methods      the ways to find neighbours, all as ``find(train, source)``
figures      the paper's five figures, by its protocol and by ours at the same total loss
equal_loss   all methods at the same total loss per item
statements   the paper's statements, each with a verdict
report       docs/papers/heterogeneous.md

Run ``python -m experiments.heterogeneous --help``.
"""
