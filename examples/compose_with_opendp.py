"""A mechanism of Reticent inside an OpenDP composition (needs the extra ``opendp``)."""

# %% OpenDP asks to be told that it cannot check what a user-defined measurement promises
import opendp.prelude as dp

from reticent import DiscreteLaplace
from reticent.exports.opendp import as_measurement

dp.enable_features("contrib", "honest-but-curious")

# %% Our exact noise as a measurement: its map is the guarantee, rounded up
counts = as_measurement(DiscreteLaplace(epsilon=0.5, size=3))
print("one person costs", counts.map(1), "and two together", counts.map(2))
print("released:", counts([412, 388, 51]))

# %% Together with OpenDP's own noise, on the same counts
theirs = dp.m.make_laplace(counts.input_domain, counts.input_metric, scale=4.0)
both = dp.c.make_composition([counts, theirs])
print("both together cost", both.map(1))
for values in both([412, 388, 51]):
    print("released:", values)
