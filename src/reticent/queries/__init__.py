"""What can be asked: one declaration for each kind, from which every surface is made.

base        a query, its public terms, what it reads, its answer
options     the options of a query: how each is read, written and shown
inputs      the tables of a query and the roles of their columns, and its artefacts
binding     files, frames and arrays as these tables
artefacts   stored answers with their card, read again
run         terms, agree, charge, draw, keep, open: one runner
derived     answers that are computed from artefacts, at no cost
publish     the one place where an answer becomes text, JSON, CSV or Parquet
plans       what a release would cost, in words
registry    which kinds there are
"""
