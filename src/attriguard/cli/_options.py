"""Groups of options that several commands share, spelled once, and what each gives to an operation."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attriguard.cli._shell import input_table, note
from attriguard.errors import DataError, ParameterError

if TYPE_CHECKING:
    import attriguard as ag

TABLE, VALUES, NETWORK, WISHES = "Table", "Values of the attribute", "Network (nn)", "Wishes"
KEY_VARIABLE = "ATTRIGUARD_KEY"
TYPED_KEY = (
    f"a key on the command line can be read by others while the command runs; use --key @FILE or ${KEY_VARIABLE}"
)
# What the choices about tables are where nothing is said.
TABLE_DEFAULT = "error"

Seed = Annotated[
    int | None, typer.Option(min=0, help="Repeat the same run; without it, chance is the operating system's.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Write machine-readable JSON to standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors and warnings; --json stays.")]


Goal = Annotated[
    str,
    typer.Option(
        help="mislead: an attacker who does not know the guard infers another value. conceal: what tells most is "
        "removed, so that even an attacker who retrains infers less. both: part of the changes for each."
    ),
]


@dataclass(frozen=True)
class Shown:
    """How a result is shown on the terminal."""

    as_json: AsJson = False
    quiet: Quiet = False


@dataclass(frozen=True)
class Key:
    """The secret that fixes draws."""

    key: Annotated[
        str | None,
        typer.Option(
            envvar=KEY_VARIABLE,
            show_envvar=True,
            rich_help_panel=WISHES,
            help="A secret that fixes every user's draw, so that repeated releases do not average the noise away; "
            "@FILE reads it from a file.",
        ),
    ] = None

    @property
    def key_file(self) -> Path | None:
        """The file that holds the key, where there is one."""
        found = secret(self.key)
        return found if isinstance(found, Path) else None

    def read_key(self) -> bytes | None:
        """The key itself, asked for before the long work; what a person should know about it is told."""
        import attriguard as ag
        from attriguard.cli._shell import warn

        key = ag.read_key(self.key_file or self.key or None)
        typed = key is not None and self.key_file is None and os.environ.get(KEY_VARIABLE) != self.key
        warn([TYPED_KEY] if typed else ag.key_warnings(self.key_file) if self.key_file else [])
        return key


@dataclass(frozen=True)
class Columns:
    """Which columns of the ratings table mean what."""

    user: Annotated[
        str | None, typer.Option(help="The column of user ids; guessed otherwise.", rich_help_panel=TABLE)
    ] = None
    item: Annotated[
        str | None, typer.Option(help="The column of item ids; guessed otherwise.", rich_help_panel=TABLE)
    ] = None
    rating: Annotated[
        str | None,
        typer.Option(help="The column of ratings; guessed otherwise. A table without one holds likes.",
                     rich_help_panel=TABLE),
    ] = None  # fmt: skip
    duplicates: Annotated[
        str, typer.Option(help="The same user and item twice: error, last or mean.", rich_help_panel=TABLE)
    ] = TABLE_DEFAULT

    def given(self) -> dict[str, Any]:
        """The options that were named."""
        return {name: value for name, value in vars(self).items() if value not in (None, False, TABLE_DEFAULT)}


@dataclass(frozen=True)
class Source:
    """Ratings with an attribute: files, or a named data set."""

    ratings: Annotated[
        Path | None, typer.Argument(metavar="RATINGS", help="Ratings: a CSV or Parquet table; - for stdin.")
    ] = None
    attributes: Annotated[Path | None, typer.Option(help="A table with a row a user and the attribute.")] = None
    attribute: Annotated[
        list[str] | None,
        typer.Option(help="The attribute's column; give it several times to protect a combination."),
    ] = None
    dataset: Annotated[
        str | None, typer.Option(help="A named data set instead of files (see: attriguard datasets).")
    ] = None
    item_names: Annotated[
        Path | None,
        typer.Option(help="A table with a row an item: its id, and a title to be shown instead.",
                     rich_help_panel=TABLE),
    ] = None  # fmt: skip

    @property
    def files(self) -> list[Path]:
        """The files that are read."""
        return [path for path in (self.ratings, self.attributes, self.item_names) if path is not None]

    @property
    def told(self) -> list[Path]:
        """Those whose hash a page may tell; one of the attributes would let anybody try out a user's value."""
        return [path for path in (self.ratings, self.item_names) if path is not None]

    def check(self) -> None:
        """Refuse what names too little or too much; asked before anything is loaded."""
        if self.dataset is not None and self.ratings is not None:
            raise ParameterError("give either RATINGS or --dataset, not both")
        if self.dataset is None and self.ratings is None:
            raise ParameterError("name a table of RATINGS, or a data set with --dataset (see: attriguard datasets)")
        if self.dataset is None and self.attributes is None:
            raise DataError("the attribute is missing: name a table with a row a user with --attributes")


@dataclass(frozen=True)
class Reading:
    """How tables are read."""

    scale: Annotated[
        str | None, typer.Option(help="The rating scale as LOWEST:HIGHEST:STEP, such as 1:5:1.", rich_help_panel=TABLE)
    ] = None
    like: Annotated[
        bool, typer.Option("--like", help="Take every row as a like, whatever its rating.", rich_help_panel=TABLE)
    ] = False
    unmatched: Annotated[
        str, typer.Option(help="Users in one table only: error, keep or drop.", rich_help_panel=TABLE)
    ] = TABLE_DEFAULT
    attributes_user: Annotated[
        str | None,
        typer.Option(help="The column of user ids in the attributes table; guessed otherwise.", rich_help_panel=VALUES),
    ] = None
    missing: Annotated[
        str | None,
        typer.Option(help="Marks that stand for no value, with commas between; NA, unknown and the like otherwise, "
                          "'' for the empty cell alone.", rich_help_panel=VALUES),
    ] = None  # fmt: skip
    bins: Annotated[
        str | None,
        typer.Option(help="How numbers are cut into values: how many bins (5), the edges between them (18,25,35), or "
                          "none; 5 otherwise, for quantities of more than 10 numbers.", rich_help_panel=VALUES),
    ] = None  # fmt: skip
    min_users: Annotated[
        int | None,
        typer.Option(min=1, help="Values with fewer users are rare.", rich_help_panel=VALUES),
    ] = None
    rare: Annotated[
        str | None,
        typer.Option(help="Rare values: merge (into 'other', the default) or drop (as undisclosed).",
                     rich_help_panel=VALUES),
    ] = None  # fmt: skip

    def given(self) -> dict[str, Any]:
        """The options that were named, as ``read_ratings`` takes them."""
        read = {"scale": scale_of, "missing": words, "bins": bins_of}
        named = {name: value for name, value in vars(self).items() if value not in (None, False, TABLE_DEFAULT)}
        return {name: read[name](value) if name in read else value for name, value in named.items()}


@dataclass(frozen=True)
class Guard:
    """What the guard is."""

    goal: Goal = "mislead"
    classifier: Annotated[str, typer.Option(help="What the guard learns: lr, lr-ova or nn (a network).")] = "lr"
    guard_units: Annotated[
        int | None,
        typer.Option(help="Hidden units of the guard's network; 50,000 otherwise.", rich_help_panel=NETWORK),
    ] = None
    search: Annotated[str, typer.Option(help="Phase I: margin, probability, panda or exact.")] = "margin"
    policy: Annotated[str, typer.Option(help="What may change: modify_exist, add_new or modify_add.")] = "modify_add"
    target: Annotated[str, typer.Option(help="What attackers shall be left with: train or uniform.")] = "train"
    budget_over: Annotated[
        str | None,
        typer.Option(help="Whose budget it is: user (each user's; usual, but for audit) or everyone (an average)."),
    ] = None
    confidence: Annotated[
        str | None,
        typer.Option(help="How far a value shall lead: a number, or auto; 0 otherwise, and auto with --goal both."),
    ] = None
    split: Annotated[
        float | None,
        typer.Option(help="With --goal both: the share of the budget that removes, from 0 to 1; tried out otherwise."),
    ] = None

    def options(self, *, seed: int | None = None, epochs: int | None = None, goal: str | None = None) -> dict[str, Any]:
        """The options of ``AttriGuard``; refused where the goal (or ``goal``) has no use for what was named."""
        own = {
            "goal": self.goal,
            "classifier": self._classifier(seed, epochs),
            "search": self.search,
            "policy": self.policy,
            "target": self.target,
            "confidence": number_or_word(self.confidence),
            "split": self.split,
        }
        self._refuse_useless(goal or self.goal)
        return own if self.budget_over is None else own | {"budget_over": self.budget_over}

    def _classifier(self, seed: int | None, epochs: int | None) -> Any:
        import attriguard as ag

        asked: dict[str, Any] = {"hidden": self.guard_units, "epochs": epochs}
        given = {option: value for option, value in asked.items() if value is not None}
        if self.classifier != "nn":
            if given:
                option = {"hidden": "guard-units"}.get(next(iter(given)), next(iter(given)))
                raise ParameterError(f"--{option} is an option of networks; use it with --classifier nn")
            return self.classifier
        network = ag.NetworkClassifier(random_state=seed, **given)
        network.check_options()
        return network

    def _refuse_useless(self, name: str) -> None:
        import attriguard as ag

        goal, usual = ag.goals.get(name), Guard()
        named = [
            option
            for option in ("classifier", "search", "target", "confidence", "split")
            if getattr(self, option) != getattr(usual, option) and option not in goal.options
        ]
        if named:
            raise ParameterError(
                f"{', '.join(f'--{option}' for option in named)}: of no use with --goal {name}; leave out, or use "
                "another goal"
            )


def number_or_word(text: str | None) -> float | str | None:
    """ "auto", or the number that the text is."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def numbers(text: str, what: str) -> list[float]:
    """Numbers with commas between."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(f"{what} must be numbers with commas between, such as 1,2,4, got {text!r}") from None


def words(text: str) -> list[str]:
    """Names with commas between; nothing for nothing."""
    return [name.strip() for name in text.split(",") if name.strip()]


def secret(text: str | None) -> str | Path | None:
    """A secret as it is, or for @FILE the file that holds it."""
    return Path(text[1:]) if text and text.startswith("@") else text


def plug_ins(text: str) -> list[str]:
    """Names of attacks or defenses; a MODULE:CLASS among them may stand in the folder one works in.

    Only then may code be loaded from that folder: a file that came with somebody's data must not pass for a package.
    """
    import os
    import sys

    found = words(text)
    if any(":" in name for name in found) and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    return found


def scale_of(text: str) -> ag.RatingScale:
    """LOWEST:HIGHEST or LOWEST:HIGHEST:STEP."""
    import attriguard as ag

    try:
        parts = [float(part) for part in text.split(":")]
    except ValueError:
        parts = []
    if len(parts) not in (2, 3):
        raise ParameterError(f"--scale must be LOWEST:HIGHEST:STEP, such as 1:5:1, got {text!r}")
    return ag.RatingScale(*parts)


def bins_of(text: str) -> int | list[float] | str:
    """How many bins, or the edges between them ("40," is one edge), or "none"."""
    parts = words(text)
    if [part.casefold() for part in parts] == ["none"]:
        return "none"
    try:
        return int(text) if "," not in text else [float(part) for part in parts]
    except ValueError:
        raise ParameterError(
            f"--bins must be how many bins (5), the edges between them (18,25,35), or none, got {text!r}"
        ) from None


def as_typed(message: str) -> str:
    """A message in which "the option min_users", as Python spells it, is --min-users."""
    known = "|".join(field.name for group in (Columns, Source, Reading) for field in fields(group))
    return re.sub(rf"\bthe option ({known})\b", lambda found: "--" + found.group(1).replace("_", "-"), message)


def load(
    source: Source, columns: Columns, reading: Reading, shown: Shown, limits: dict[str, Any] | None = None
) -> ag.PublicData:
    """The data a command works on: files, or a named data set; what was done in reading it is told.

    ``limits``: a table is not read whole, but at most so many users and items of it.
    """
    import attriguard as ag

    source.check()
    named = _reading(source, columns, reading)
    if source.dataset is not None:
        attribute = named.pop("attribute", None)
        if named:
            useless = ", ".join(f"--{name.replace('_', '-')}" for name in named)
            raise ParameterError(f"{useless}: for tables of your own; a named data set is known as it is")
        data = ag.load_dataset(source.dataset, attribute=attribute)
    elif limits is not None and source.ratings is not None:
        some = {name: value for name, value in limits.items() if value is not None}
        data = ag.sample_ratings(source.ratings, **some, **named)
    else:
        data = ag.read_ratings(input_table(source.ratings), **named)
    tell(data, shown)
    return data


def load_for(
    guard: Path | None, source: Source, columns: Columns, reading: Reading, shown: Shown
) -> tuple[Any, dict[str, Any]]:
    """The data to protect; with a guard the table, and how it is read: the scale is the guard's."""
    if guard is None:
        return load(source, columns, reading, shown), {}
    if source.ratings is None:
        raise ParameterError("name a table of RATINGS")
    if reading.scale is not None or reading.like or source.dataset is not None:
        raise ParameterError("--scale, --like and --dataset are of no use with --guard, which knows its scale")
    return input_table(source.ratings), _reading(source, columns, reading)


def tell(data: ag.PublicData, shown: Shown) -> None:
    """What was done in reading the data, a line each on standard error."""
    for line in () if shown.quiet else data.notes:
        note(f"attriguard: note: {as_typed(line)}")


def _reading(source: Source, columns: Columns, reading: Reading) -> dict[str, Any]:
    """The options of ``read_ratings`` that were named."""
    several = source.attribute or []
    tables = {"attributes": input_table(source.attributes), "item_names": source.item_names}
    named = {**tables, "attribute": several[0] if len(several) == 1 else source.attribute}
    return columns.given() | reading.given() | {name: value for name, value in named.items() if value is not None}
