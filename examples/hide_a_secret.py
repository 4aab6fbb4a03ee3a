"""Change few columns of profiles so that an income is hard to guess from them."""

# %% A public census sample stands for the people a mapping is learnt from
import reticent as rt
from reticent.data import load_adult

adult = load_adult()
columns = ("education", "sex", "marital-status")
known = {name: adult[name][:10_000] for name in (*columns, "income")}

# %% Learn: at most 0.05 bits about the income on average, and the least change for that
mapping = rt.Mapping(secret="income", leak="0.05", held_out="0.2").release(known)
learnt, stated = mapping.value.found, mapping.value.statement
print(f"profiles as they are tell {learnt.untouched} bits, released ones {stated.bits}; ", end="")
print(f"{stated.distortion:.1%} of the columns change")
before, after = stated.guesses
print(f"the best guess is right {before:.1%} of the time without a profile, {after:.1%} with one")
print(mapping.card.words.odds)

# %% Release, once for each person: a second draw would tell more
everybody = {"person": ["ann", "bob"], **{name: adult[name][40_000:40_002] for name in columns}}
given = {"mapping": mapping, "table": everybody}
answer = rt.Profile(once="released.json").release(given, ledger="service.db")
for name, cells in answer.value.items():
    print(name, "->", cells)
again = rt.Profile(once="released.json", person="ann").release(given, ledger="service.db")
print("ann", "->", again.value["ann"], "again")

# %% What it does not promise
print("an average over those it was learnt from, about the income only: about some it can tell all")
