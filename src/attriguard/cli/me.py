"""``attriguard me``: one person's export and a guard in, what it says about the person and what to change out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from attriguard.cli import _options as o

EXAMPLE = "Example: attriguard me my-ratings.csv --guard city.guard --budget 4 --never 'Heat (1995)'"


@dataclass(frozen=True)
class Options:
    """The options of ``me`` alone."""

    export: Annotated[
        Path,
        typer.Argument(
            metavar="EXPORT",
            help="What you downloaded from Letterboxd, IMDb, Goodreads, StoryGraph, Netflix, MyAnimeList, Trakt, "
            "Last.fm, Steam or Google Play, zip files included; or any CSV file with a column of titles.",
        ),
    ]
    guard: Annotated[Path, typer.Option(help="The guard file, learnt from other people by 'attriguard fit'.")]
    goal: Annotated[
        str | None, typer.Option(help="mislead, conceal or both; conceal where the guard serves it, else the guard's.")
    ] = None
    budget: Annotated[float | None, typer.Option(help="How many ratings may change; else the guard's.")] = None
    locked: Annotated[
        list[str] | None, typer.Option(help="A title whose rating must not change; give it several times.")
    ] = None
    never: Annotated[list[str] | None, typer.Option(help="A title that must not be added; give it several times.")] = (
        None
    )
    output: Annotated[
        Path | None, typer.Option(help="Also write it: .html (a page), .json, .csv or .parquet; keep it to yourself.")
    ] = None


def me(own: Options, key: o.Key, shown: o.Shown) -> None:
    """What do your own ratings say about you, which of them say it, and which few would you change?

    Nothing leaves this machine. The file is read as the site gave it to you; its titles are matched to those that the
    guard knows by id, by title and year, or by title. How sure the classifier is stands beside what anyone would guess.
    """
    import attriguard as ag
    from attriguard.cli._shell import check_files, show

    check_files(shown, result=own.output, read=[own.export, own.guard, key.key_file])
    about = ag.about_me(
        own.export,
        own.guard,
        goal=own.goal,
        budget=own.budget,
        locked=own.locked or (),
        never=own.never or (),
        key=key.read_key(),
    )
    show(about, shown, saved=own.output, read=[own.guard])
