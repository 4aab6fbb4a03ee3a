"""Attribute histograms under preferences: the plan, a release, its card, and what can be true."""

# %% What is public: which film is about what
from reticent import Catalogue, Preferences, Source, plan_histogram, release_histogram

films = Catalogue.of(
    [[1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1]],
    attributes=("Crime", "Drama", "War"),
    items=("Heat", "Up", "Glory", "Fargo", "Dunkirk"),
)

# %% Plan: the provider's epsilon is shared so that the error is least, and that is certified
plan = plan_histogram(films, budgets={"Crime": 1, "Drama": 0.2, "War": 1}, epsilon=0.8)
for attribute, spent in zip(plan.attributes, plan.spent, strict=True):
    print(f"{attribute:6} may tell epsilon {float(spent):.3g} alone")
print(f"scaling all budgets alike would give {plan.advantage:.3g} times the squared error")
print(f"nothing is lost from epsilon {float(plan.threshold):g} on; proved to within {plan.gap:.1g}")

# %% Release: Ann hides one film and lets the club learn the rest
ann = Preferences.parse("""
version = 1
[items]
Heat = 0
[attributes]
default = 1.0
[providers."club.example"]
epsilon = 2.0
""")
seen = ["Heat", "Up", "Glory", "Dunkirk"]
histogram = release_histogram(seen, films, ann, provider="club.example", source=Source.system())
print(dict(zip(histogram.attributes, histogram.values.round(2).tolist(), strict=True)))

# %% The nearest histogram that a profile can have: costs nothing, has less error, is biased
print("possible:", histogram.possible().round(2).tolist(), "true: [0, 2, 2]")

# %% The card says what was promised
print(histogram.card("Genres for the film club").words.odds)
