"""Change few columns of profiles so that an income is hard to guess from them."""

# %% A public census sample stands for the people a mapping is learnt from
import numpy as np

from reticent import Alphabet, Limits, ReleaseOnce, Source, learn_mapping
from reticent.data import load_adult

adult = load_adult()
columns = ("education", "sex", "marital-status")
people = np.column_stack([np.asarray(adult[name], dtype=object) for name in columns])
income = np.asarray(adult["income"])

# %% Learn: at most 0.05 bits about the income on average, and the least change for that
alphabet = Alphabet.of(people[:10_000], income[:10_000])
learnt = learn_mapping(alphabet, Limits(leak_bits=0.05), columns=columns, secret="income")
print(f"profiles as they are tell {learnt.untouched_bits:.3f} bits, released ones ", end="")
print(f"{learnt.leak_bits:.3f}; {learnt.distortion:.1%} of the columns change")
before, after = learnt.law.guess_rates()
print(f"the best guess is right {before:.1%} of the time without a profile, {after:.1%} with one")

# %% Release, once for each person: a second draw would tell more
once = ReleaseOnce(learnt.recoding, Source.system())
for name, row in zip(("ann", "bob"), people[40_000:40_002], strict=True):
    print(name, tuple(row), "->", once.release(name, list(row)))
again = once.release("ann", list(people[40_001]))  # whatever her profile is by now
print("ann", "->", again, "again")

# %% What it does not promise
print("an average over those it was learnt from, about the income only: about some it can tell all")
