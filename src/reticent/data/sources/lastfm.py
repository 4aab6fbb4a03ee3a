"""Last.fm listening as profiles: who played which artist (the HetRec 2011 set, lastfm-2k).

Not here  tags and friends of the same set.

``user_artists.dat`` is tab-separated with a heading; a parquet form with columns user, artist,
weight is read too. Published for non-commercial use by the HetRec 2011 workshop; none is shipped.
"""

from __future__ import annotations

from pathlib import Path

from reticent.data.profiles import Profiles
from reticent.data.sources import find
from reticent.data.sources.columns import read_parquet, read_text
from reticent.rational import whole


def lastfm_2k(folder: str | Path, *, least_plays: int = 1) -> Profiles:
    """1,892 people with up to 50 of 17,632 artists each, those played ``least_plays`` times."""
    whole(least_plays, "least_plays", least=1)
    names = ("user_artists.dat", "user_artists.parquet")
    path = find(folder, names, dataset="hetrec2011-lastfm-2k (lastfm-2k)")
    if path.suffix == ".dat":
        people, artists, plays = read_text(path, width=3, separator="\t", header=True).T
    else:
        people, artists, plays = read_parquet(path, ("user", "artist", "weight")).values()
    kept = plays >= least_plays
    return Profiles.of(people[kept], artists[kept])
