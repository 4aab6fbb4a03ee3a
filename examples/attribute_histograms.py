"""Attribute histograms under preferences: the plan, a release, its card, and what can be true."""

# %% What is public: which film is about what
import reticent as rt

films = rt.Catalogue.of(
    [[1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1]],
    attributes=("Crime", "Drama", "War"),
    items=("Heat", "Up", "Glory", "Fargo", "Dunkirk"),
)

# %% Plan: the provider's epsilon is shared so that the error is least, and that is certified
plan = rt.plan_histogram(films, budgets={"Crime": 1, "Drama": 0.2, "War": 1}, epsilon=0.8)
for attribute, spent in zip(plan.attributes, plan.spent, strict=True):
    print(f"{attribute:6} may tell epsilon {float(spent):.3g} alone")
print(f"scaling all budgets alike would give {plan.advantage:.3g} times the squared error")
print(f"nothing is lost from epsilon {float(plan.threshold):g} on; proved to within {plan.gap:.1g}")

# %% Release: Ann hides one film and lets the club learn the rest
wishes = rt.Preferences.parse("""
version = 1
[items]
Heat = 0
[attributes]
default = 1.0
[providers."club.example"]
epsilon = 2.0
""")
seen = {"person": ["ann"] * 4, "item": ["Heat", "Up", "Glory", "Dunkirk"]}
data = {"profiles": seen, "catalogue": films}
answer = rt.Histogram(provider="club.example").release(data, preferences=wishes)
print({genre: round(number, 2) for genre, number in answer.value["ann"].items()})

# %% The nearest histogram that a profile can have: costs nothing, has less error, is biased
nearest = rt.Histogram(provider="club.example", possible=True)
answer = nearest.release(data, preferences=wishes)
print("possible:", [round(number, 2) for number in answer.value["ann"].values()], "true: [0, 2, 2]")

# %% The card says what was promised
print(answer.card.words.odds)
