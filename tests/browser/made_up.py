"""A made-up guard of films, and what a made-up person downloaded from a site: small, with awkward titles."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import attriguard as ag

N_ITEMS, PERSON = 120, 5
FIRST = ("Quiet", "Golden", "Broken", "Hidden", "Electric", "Silver", "Crooked", "Paper", "Midnight", "Restless")
SECOND = ("River", "Garden", "Harbour", "Season", "Machine", "Letter", "Island", "Winter", "Orchard", "Detective",
          "Carnival", "Lighthouse")  # fmt: skip
MARKUP = '<img src=x onerror="document.title=1"><b>Bold</b> & co'
FORMULA = "=1+1"
LONG = "An Extraordinarily Long Title of a Film That Goes On and On until Nobody Remembers How It All Began or Why"
UNKNOWN = "A Film That Nobody Knows"


def titles() -> list[str]:
    """What people call the items, with years; some would do harm where a page read them as markup or formulas."""
    plain = [f"The {first} {second}" for second in SECOND for first in FIRST]
    strange = [MARKUP, FORMULA, LONG, 'Say "Hello", Anna', "Café à la Crème"]
    return [f"{title} ({1950 + k % 70})" for k, title in enumerate([*strange, *plain[len(strange) :]])]


def made_up() -> tuple[ag.AttriGuard, np.ndarray]:
    """A guard for every goal, and the entries of one person."""
    data = ag.load_dataset("twin", n_users=600, n_items=N_ITEMS, n_values=8)
    guard = ag.learn(data, goal="both", members=1, split=0.5, random_state=0)
    return guard, data.X[[PERSON]].toarray()[0]


def write_letterboxd(path: Path, entries: np.ndarray) -> int:
    """The person's ratings as Letterboxd gives them back, in half stars, with one title that no guard knows.

    The strange titles are among them. How many ratings the guard knows.
    """
    entries = entries.copy()
    entries[:5] = 1.0
    names = [title.rsplit(" (", 1) for title in titles()]
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["Date", "Name", "Year", "Letterboxd URI", "Rating"])
        for k in np.flatnonzero(entries):
            title, year = names[k]
            table.writerow(["2024-05-01", title, year.rstrip(")"), f"https://boxd.it/{k}", f"{5 * entries[k]:g}"])
        table.writerow(["2024-05-02", UNKNOWN, 2001, "https://boxd.it/none", 3.5])
    return int((entries > 0).sum())
