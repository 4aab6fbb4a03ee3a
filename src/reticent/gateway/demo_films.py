"""The films of the demonstration: invented, with the genres that its catalogue knows.

Not here  who has seen them (demo_people.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reticent.data.catalogue import Catalogue

GENRES = (
    *("Comedy", "Crime", "Documentary", "Drama", "Family"),
    *("Horror", "Romance", "Science fiction", "Western"),
)

FILMS = {
    "A Chair by the Window": ("Drama",),
    "A Loaf for Every Table": ("Documentary", "Family"),
    "All the Wrong Umbrellas": ("Comedy", "Romance"),
    "Ask the Ferryman": ("Crime", "Drama"),
    "Badger Street": ("Comedy", "Family"),
    "Below the Salt Line": ("Horror",),
    "Born in the Lighthouse": ("Drama", "Family"),
    "Cold Tea": ("Drama", "Romance"),
    "Dust on the Piano": ("Drama",),
    "Eleven Honest Thieves": ("Comedy", "Crime"),
    "Every Second Tuesday": ("Comedy", "Romance"),
    "Far Side of the Orchard": ("Drama", "Romance"),
    "Four Keys to Saltmarsh": ("Crime",),
    "Granite and Rye": ("Western",),
    "How Bees Vote": ("Documentary",),
    "In Case of Snow": ("Comedy", "Drama"),
    "Last Train to Ombra": ("Crime", "Drama"),
    "Letters to a Glacier": ("Documentary", "Drama"),
    "Nobody Waters the Ferns": ("Comedy", "Drama"),
    "North of the Wire": ("Drama", "Western"),
    "Orbit of Small Things": ("Drama", "Science fiction"),
    "Paper Foxes": ("Family", "Science fiction"),
    "Quiet as Wool": ("Horror", "Drama"),
    "Red Clay Ledger": ("Crime", "Western"),
    "Seven Miles of Fence": ("Western",),
    "Static on Channel Nine": ("Horror", "Science fiction"),
    "The Apology Machine": ("Comedy", "Science fiction"),
    "The Beekeeper's Alibi": ("Comedy", "Crime"),
    "The Clinic at Harrow Bend": ("Drama",),
    "The Glass Harvest": ("Science fiction",),
    "The Map Room": ("Crime", "Drama"),
    "The Night Bakers": ("Documentary",),
    "The Second Moon Came Early": ("Romance", "Science fiction"),
    "The Smallest Orchestra": ("Documentary", "Family"),
    "The Well Below": ("Horror",),
    "Three Aunts and a Goat": ("Comedy", "Family"),
    "Tin Roof Waltz": ("Drama", "Romance"),
    "Twelve Winters": ("Documentary", "Drama"),
    "Under a Borrowed Hat": ("Comedy", "Western"),
    "What the River Kept": ("Crime", "Horror"),
}


def films() -> Catalogue:
    """The catalogue of the film club."""
    from reticent.data.catalogue import Catalogue

    values = [[int(genre in kinds) for genre in GENRES] for kinds in FILMS.values()]
    return Catalogue.of(values, attributes=GENRES, items=tuple(FILMS))
