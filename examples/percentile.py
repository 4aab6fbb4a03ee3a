"""A number near the median of private incomes, and how its error goes with the budget."""

# %% Incomes are private. Range and step come from what an income is, not from the table.
import numpy as np

from reticent import Source
from reticent.data.synthetic import uniform
from reticent.tasks.percentile import quantile, quantile_mechanism

pay = 20_000 * np.exp(1.2 * uniform(2000, Source.seeded(3)))  # made up, so we may look
grid = {"lower": 0, "upper": 200_000, "step": 500}

# %% Plan: the error is in people who are missed, and known without data
mechanism = quantile_mechanism(1, **grid)
print("error to expect:", mechanism.utility().sentence)

# %% Release
release = quantile(pay, 0.5, **grid, epsilon=1, source=Source.system())
print("released median:", release.value * grid["step"], "true:", round(float(np.median(pay))))
print("spent epsilon", release.event.loss.overall / 1e9, "about one person's value")

# %% What a budget buys
for epsilon in (0.01, 0.1, 1):
    draws = [
        quantile(pay, 0.5, **grid, epsilon=epsilon, source=Source.system()).value * grid["step"]
        for _ in range(40)
    ]
    off = np.mean(np.abs(np.array(draws) - np.median(pay)))
    print(f"epsilon {epsilon:g}: off by {off:,.0f} on average over 40 draws")
