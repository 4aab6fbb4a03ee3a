"""The members who hold two clubs together, chosen so that no single friendship shows."""

# %% Who is a member is public, who knows whom is private
from collections import Counter

from reticent import Source
from reticent.data.graphs import Graph
from reticent.tasks.influence import Influence

members = ["bridge", *(f"{club}{i}" for club in "ab" for i in range(60))]
links = []
for i in range(60):
    for club in "ab":
        links += [(f"{club}{i}", f"{club}{(i * 7 + 1) % 60}")] if i != (i * 7 + 1) % 60 else []
        links += [(f"{club}0", f"{club}{i}")] if i and i % 3 == 0 else []
        links += [("bridge", f"{club}{i}")] if i % 4 == 0 else []
graph = Graph.of_edges(links, nodes=members)

# %% The clubs allow 40 links each, whatever the data: that bound is declared, not looked up
influence = Influence(k=3, epsilon=2, nodes=len(members), bound=40, within=True)
release = influence.release(graph, Source.system())
print("released:", sorted(graph.names[place] for place in release.value))
print("cost: epsilon", release.event.loss.overall / 1e9, "about one link")

# %% How often it is right depends on the budget. These links are made up, so we may look.
for epsilon in (0.3, 1, 3):
    influence = Influence(k=3, epsilon=epsilon, nodes=len(members), bound=40, within=True)
    found = Counter(
        graph.names[place]
        for _ in range(50)
        for place in influence.release(graph, Source.system()).value
    )
    right = sum(found[name] for name in ("bridge", "a0", "b0"))
    print(f"epsilon {epsilon:g}: {right} of 150 chosen are among the true three")
