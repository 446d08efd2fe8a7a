"""Options that several commands share, spelled once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attriguard.errors import DataError, ParameterError

if TYPE_CHECKING:
    from attriguard.data.public_data import PublicData
    from attriguard.data.scale import RatingScale

Ratings = Annotated[Path, typer.Argument(metavar="RATINGS", help="Ratings: a CSV or Parquet table, a row a rating.")]
Attributes = Annotated[Path | None, typer.Option(help="A table with a row a user and the attribute.")]
Attribute = Annotated[
    list[str] | None,
    typer.Option(help="The attribute's column; give it several times to protect a combination."),
]
Dataset = Annotated[str | None, typer.Option(help="A named data set instead of files (see: attriguard datasets).")]
User = Annotated[str | None, typer.Option(help="The column of user ids; guessed otherwise.", rich_help_panel="Table")]
Item = Annotated[str | None, typer.Option(help="The column of item ids; guessed otherwise.", rich_help_panel="Table")]
Rating = Annotated[
    str | None,
    typer.Option(
        help="The column of ratings; guessed otherwise. A table without one holds likes.", rich_help_panel="Table"
    ),
]
Like = Annotated[
    bool, typer.Option("--like", help="Take every row as a like, whatever its rating.", rich_help_panel="Table")
]
Scale = Annotated[
    str | None,
    typer.Option(help="The rating scale as LOWEST:HIGHEST:STEP, such as 1:5:1.", rich_help_panel="Table"),
]
Duplicates = Annotated[
    str,
    typer.Option(help="The same user and item twice: error, last or mean.", rich_help_panel="Table"),
]
Unmatched = Annotated[
    str,
    typer.Option(help="Users in one table only: error, keep or drop.", rich_help_panel="Table"),
]
Classifier = Annotated[str, typer.Option(help="What the guard learns: lr, lr-ova or nn (a network).")]
Goal = Annotated[
    str,
    typer.Option(
        help="mislead: an attacker who does not know the guard infers something else. conceal: what tells most is "
        "taken away, so that even one who knows it infers less. both: part of the changes for each."
    ),
]
Split = Annotated[
    float | None,
    typer.Option(help="With --goal both: the share of the budget that takes away, from 0 to 1; tried out otherwise."),
]
Hidden = Annotated[
    int | None, typer.Option(help="Hidden units of the network; 50,000 otherwise.", rich_help_panel="Network (nn)")
]
Epochs = Annotated[int | None, typer.Option(help="Passes over the users, at most.", rich_help_panel="Network (nn)")]
Search = Annotated[str, typer.Option(help="Phase I: margin, panda or exact.")]
Policy = Annotated[str, typer.Option(help="What may change: modify_exist, add_new or modify_add.")]
Budget = Annotated[float, typer.Option(help="How many ratings may change, on average, a user.")]
Target = Annotated[str, typer.Option(help="What attackers shall be left with: train or uniform.")]
Confidence = Annotated[
    str | None, typer.Option(help="How far a value shall lead: a number, or auto. [default: 0; for --goal both auto]")
]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Repeat the same run; without it, chance is the operating system's.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Write machine-readable JSON to standard output.")]


def classifier_of(name: str, *, hidden: int | None, epochs: int | None, seed: int | None) -> Any:
    """The classifier asked for; a network with its options."""
    asked = {"hidden": hidden, "epochs": epochs}
    options = {option: value for option, value in asked.items() if value is not None}
    if name != "nn":
        if options:
            raise ParameterError(f"--{next(iter(options))} is an option of networks; use it with --classifier nn")
        return name
    from attriguard.classifiers.network import NetworkClassifier

    network = NetworkClassifier(random_state=seed, **options)
    network.check_options()
    return network


def confidence_of(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def scale_of(text: str | None) -> RatingScale | None:
    """LOWEST:HIGHEST or LOWEST:HIGHEST:STEP."""
    from attriguard.data.scale import RatingScale

    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(":")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3):
        raise ParameterError(f"--scale must be LOWEST:HIGHEST:STEP, such as 1:5:1, got {text!r}")
    return RatingScale(*numbers)


# What the choices about tables are where nothing is said.
TABLE_DEFAULT = "error"


def load_data(
    ratings: Path | None, dataset: str | None, attribute: list[str] | None, *, scale: str | None, **table: Any
) -> PublicData:
    """The data a command works on: files, with the options of `read_ratings`, or a named data set."""
    wanted = attribute[0] if attribute and len(attribute) == 1 else attribute
    if dataset is not None:
        if ratings is not None:
            raise ParameterError("give either RATINGS or --dataset, not both")
        told = {"scale": scale, **table}
        useless = [f"--{name}" for name, value in told.items() if value not in (None, False, TABLE_DEFAULT)]
        if useless:
            raise ParameterError(f"{', '.join(useless)}: for tables of your own; a named data set is known as it is")
        from attriguard.data.named.datasets import load_dataset

        return load_dataset(dataset, attribute=wanted)
    if ratings is None:
        raise ParameterError("name a table of RATINGS, or a data set with --dataset (see: attriguard datasets)")
    if table.get("attributes") is None:
        raise DataError("the attribute is missing: name a table with a row a user with --attributes")
    from attriguard.data.ratings import read_ratings

    return read_ratings(ratings, attribute=wanted, scale=scale_of(scale), **table)
