"""The film club of ``reticent demo``: films, members, and what one of them allows.

Not here  what is released about it (demo_similarity.py, demo_histogram.py).

Films and members are made up from a seeded source, so that they are the same everywhere. What is
released about them is drawn like everything else.
"""

from __future__ import annotations

from functools import cache
from itertools import product

from reticent.cli.demo_tour import PREFERENCES, Step, Tour
from reticent.cli.files import write_atomically
from reticent.data.catalogue import Catalogue
from reticent.data.synthetic import Communities, multi_hot_catalogue
from reticent.gateway.demo_films import GENRES
from reticent.noise import Source
from reticent.report.document import Section

CLUB, ADS = "filmclub.example", "ads.example"
HIDDEN = "The Broken Clinic"
ANN, BOB, CLEO = 0, 42, 58  # of the members below: Bob likes what Ann likes, Cleo does not
FILE = f"""\
version = 1

[items]                        # what a film counts: 0 nothing, 1 in full
default = 0.5
"{HIDDEN}" = 0        # nobody's business

[attributes]                   # epsilon a genre alone may lose in a histogram
default = 0.5
Drama = 0.1

[providers."{CLUB}"] # who may ask; all others get nothing
epsilon = 1                    # for one release
total = 3.5                    # for ever

[hide]                         # what my profile must not tell, in bits on average
income = {{ leak_bits = 0.02 }}
"""
_SEED = 2031
_FIRST = (
    *("Amber", "Borrowed", "Broken", "Distant", "Electric", "Hollow", "Last", "Paper"),
    *("Patient", "Quiet", "Second", "Silver", "Slow", "Stolen", "Winter"),
)
_SECOND = (
    *("Alibi", "Bridge", "Clinic", "Comet", "Ferry", "Garden", "Harbour", "Island"),
    *("Lantern", "Letter", "Orchard", "Parade", "River", "Station", "Tailor", "Violin"),
)


@cache
def club() -> tuple[Catalogue, tuple[tuple[str, ...], ...]]:
    """The catalogue of 240 films in nine genres, and what each of 60 members has seen."""
    source = Source.seeded(_SEED)
    titles = tuple(f"The {first} {second}" for first, second in product(_FIRST, _SECOND))
    genres = multi_hot_catalogue(len(titles), len(GENRES), source, most=3, skew=0.7)
    catalogue = Catalogue.of(genres.dense(), attributes=GENRES, items=titles)
    makers = Communities(people=60, items=len(titles), communities=3, size=110, focus=0.7, skew=1.3)
    profiles, _ = makers.draw(source)
    ends = zip(profiles.indptr[:-1].tolist(), profiles.indptr[1:].tolist(), strict=True)
    return catalogue, tuple(
        tuple(titles[film] for film in profiles.indices[start:end].tolist()) for start, end in ends
    )


def preferences(tour: Tour) -> Step:
    """One file, four dials; written, then read as everybody's is."""
    write_atomically(tour.folder / PREFERENCES, FILE)
    read = tour.preferences()
    catalogue, _ = club()
    read.check_against(attributes=catalogue.attributes, items=catalogue.items)
    words = [
        "Ann belongs to a film club. What may leave is what her file allows: a weight for each "
        "film, a budget for each genre and for each provider, and what must not be inferable.",
        f"The file is {PREFERENCES}; the console edits this same file, and whoever it does not "
        "name gets nothing.",
    ]
    lines = [line for line in FILE.splitlines() if line]
    fields = {"preferences": {"file": PREFERENCES, "rules": read.fingerprint}}
    section = Section(
        title="Preferences: one file, four dials", words=words, listing=FILE.strip().splitlines()
    )
    return Step(lines=lines[1:], fields=fields, section=section)
