"""One ledger for all releases: charged before anything is drawn, refused beyond the total."""

# %% Ann allows a provider 1 in all, 0.4 at a time
import tempfile
from pathlib import Path

import reticent as rt
from reticent.ledger import head_of, open_ledger, verify_ledger
from reticent.ledger.reports import balances

films = rt.Catalogue.of([[1, 0], [0, 1]], attributes=("Crime", "Drama"), items=("Heat", "Up"))
wishes = rt.Preferences.parse("""
version = 1
attributes.default = 0.4
[providers."club.example"]
epsilon = 0.4
total = 1.0
""")


def ask(ledger, key):
    """One request of the club, by a key of its own."""
    seen = {"person": ["ann"], "item": ["Heat"]}
    data = {"profiles": seen, "catalogue": films}
    query = rt.Histogram(provider="club.example")
    return query.release(data, preferences=wishes, ledger=ledger, key=key)


# %% Two requests are answered, the same key is answered alike, a third request is refused
place = Path(tempfile.mkdtemp()) / "ledger.db"
with open_ledger(place) as ledger:
    first, second = ask(ledger, "visit-0001"), ask(ledger, "visit-0002")
    again = ask(ledger, "visit-0001")
    print("the same key, the same answer:", first.value == again.value)
    try:
        ask(ledger, "visit-0003")
    except rt.BudgetExceeded as refused:
        print("refused:", refused)

# %% What is on the disk survives this program; its chain shows if the past was rewritten
with open_ledger(place) as ledger, ledger.reading() as connection:
    for one in balances(connection):
        print(f"{one.account.subject}: {one.spent / 1e9:g} of {one.limit / 1e9:g} spent")
    head = head_of(connection)  # keep it where nobody who runs the ledger can change it
    print("problems found:", len(verify_ledger(connection, head).problems))
