"""Histograms of everybody in a table on a cluster: one answer and one charge each, also again."""

# %% A session as you have it; this one is your own machine. It needs Java 17 and reticent[spark]
from pyspark.sql import SparkSession

import reticent as rt

spark = SparkSession.builder.master("local[2]").getOrCreate()

# %% What is public: which film is about what, and what the club may learn of anybody
films = rt.Catalogue.of(
    [[1, 1, 0], [0, 1, 0], [0, 1, 1]],
    attributes=("Crime", "Drama", "War"),
    items=("Heat", "Up", "Glory"),
)
wishes = rt.Preferences.parse("""
version = 1
[attributes]
default = 0.5
[providers."club.example"]
epsilon = 0.8
total = 2.0
""")

# %% What is private: who saw what, a row for each film; a row with a list for each person does, too
seen = spark.range(3000).selectExpr(
    "concat('person ', id % 1000) AS person",
    "element_at(array('Heat', 'Up', 'Glory'), cast(id % 7 % 3 + 1 AS int)) AS film",
)

# %% Release: drawn on the cluster, charged to the ledger by key, then shown as Parquet files
query = rt.Histogram(provider="club.example")
for _ in range(2):  # the second time nothing is drawn and nobody is charged
    answer = rt.spark.release(
        query,
        {"profiles": seen, "catalogue": films, "preferences": wishes},
        columns={"item": "film"},
        out="histograms.parquet",
        ledger="ledger.db",
        key="club, spring",
    )
    print(f"{answer.terms.known.count} people, epsilon {answer.spent} charged to each")

answer.value.orderBy("person").show(3)
