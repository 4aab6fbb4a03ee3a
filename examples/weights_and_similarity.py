"""Compare two people when one of them hides a film, and find neighbours from sketches."""

# %% Ann weighs her films: 1 counts in full, 0 does not exist for anybody
import numpy as np

import reticent as rt
from reticent import Blip, Profiles, Source
from reticent.data.synthetic import Communities

films = ["Heat", "Up", "Ran", "Alien", "Glory", "Brazil", "Big", "The Sessions"]
weights = [1, 1, 1, 1, 1, 1, 0.5, 0]
club = Profiles.of(["ann"] * 8 + ["bob"] * 8, films * 2, [*weights, *[1] * 8])

# %% One comparison: an item of weight v loses at most v times epsilon
overlap = rt.Similarity(epsilon=1, measure="overlap", pair=("ann", "bob"))
print(f"films in common, by weight: {overlap.release(club).value:.2f}; true: 6.5")
print("error to expect:", overlap.plan().error)
print(f"an item of weight 1 loses epsilon {overlap.plan().epsilon}, of weight 0 nothing")

# %% The hidden film changes nothing: with equal coins the answer is the same without it
without = Profiles.of(["ann"] * 7 + ["bob"] * 8, [*films[:7], *films], [*weights[:7], *[1] * 8])
same = [overlap.release(one, source=Source.seeded(1)).value for one in (club, without)]
print("with and without The Sessions:", same[0] == same[1])

# %% Many comparisons: publish one sketch each, then compare as often as you like
people, community = Communities(people=200, items=2000, communities=4, size=60).draw(
    Source.seeded(7)  # made-up people, always the same ones
)
sketches = Blip.fitted(epsilon=8, profile_size=60).publish(people, Source.system())
nearest = sketches.nearest(5).peers
found = np.mean(community[nearest] == community[:, None])
print(f"of the five nearest by sketch, {found:.0%} are of the same community; by chance 25%")
