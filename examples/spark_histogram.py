"""Histograms of everybody in a table on a cluster: one answer and one charge each, also again."""

# %% A session as you have it; this one is your own machine. It needs Java 17 and reticent[spark]
from pyspark.sql import SparkSession

from reticent import Catalogue, Preferences
from reticent.ledger import open_ledger
from reticent.spark import release_histograms

spark = SparkSession.builder.master("local[2]").getOrCreate()

# %% What is public: which film is about what, and what the club may learn of anybody
films = Catalogue.of(
    [[1, 1, 0], [0, 1, 0], [0, 1, 1]],
    attributes=("Crime", "Drama", "War"),
    items=("Heat", "Up", "Glory"),
)
wishes = Preferences.parse("""
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
with open_ledger("ledger.db") as ledger:
    for _ in range(2):  # the second time nothing is drawn and nobody is charged
        released = release_histograms(
            seen,
            films,
            wishes,
            "club.example",
            "histograms.parquet",
            key="club, spring",
            ledger=ledger,
            rows="items",
            items="film",
        )
        print(f"{released.people} people, {released.charged} charged")

spark.read.parquet(released.out).orderBy("person").show(3)
