"""``attriguard protect``: ratings in, released ratings out, attacked before they are written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attriguard.cli import _options as o
from attriguard.errors import ParameterError, ReleaseRefusedError

if TYPE_CHECKING:
    import attriguard as ag

EXAMPLE = "Example: attriguard protect ratings.csv --attributes users.csv --attribute city --output released.csv"
CHECK, SIZE = "Check", "Large tables"

NO_KEY = (
    "attriguard: note: without a key every release is drawn anew, and two releases of the same table tell more than "
    "one; make a key with 'attriguard key new secret.key', and use --key @secret.key"
)


@dataclass(frozen=True)
class Options:
    """The options of ``protect`` alone."""

    output: Annotated[
        Path,
        typer.Option(
            help="The released table: .csv, .csv.gz, .tsv, .parquet; - for stdout; a folder of parts for a large table."
        ),
    ]
    guard: Annotated[
        Path | None,
        typer.Option(help="For users whose value nobody knows: the guard file that 'attriguard fit' wrote."),
    ] = None
    verify: Annotated[
        str | None,
        typer.Option(help="Refuse a guard that was not signed with this secret; @FILE reads it from a file."),
    ] = None
    seed: o.Seed = None
    plan: Annotated[
        Path | None, typer.Option(help="Also write every edit and its probability (.parquet); keep it to yourself.")
    ] = None
    report: Annotated[Path | None, typer.Option(help="Also write a page about the release: .html or .json.")] = None


@dataclass(frozen=True)
class Wishes(o.Key):
    """What the publisher wants of the release."""

    locked: Annotated[
        Path | None,
        typer.Option(
            help="What must not change: a table with an item column, or with a user and an item column.",
            rich_help_panel=o.WISHES,
        ),
    ] = None
    additions: Annotated[
        Path | None,
        typer.Option(
            help="What may be added: a table with an item column and, if you like, a rating.", rich_help_panel=o.WISHES
        ),
    ] = None
    most: Annotated[
        int | None,
        typer.Option(min=1, help="No user gets more changes than that, whatever is drawn.", rich_help_panel=o.WISHES),
    ] = None
    order: Annotated[
        str,
        typer.Option(
            help="Of the released rows: keep, sorted by user and item, or shuffled.", rich_help_panel=o.WISHES
        ),
    ] = "keep"
    added_ratings: Annotated[
        str,
        typer.Option(
            help="Ratings of added rows: drawn (as the user and others would rate) or top (of the scale).",
            rich_help_panel=o.WISHES,
        ),
    ] = "drawn"
    ledger: Annotated[
        Path | None,
        typer.Option(
            help="A folder that remembers what was released of whom: what was hidden stays hidden, what was added "
            "stays, and only what is new changes; needs --key.",
            rich_help_panel=o.WISHES,
        ),
    ] = None
    budget_ever: Annotated[
        int | None,
        typer.Option(min=1, help="With --ledger: the most changes a user over all releases.", rich_help_panel=o.WISHES),
    ] = None
    knows: Annotated[
        str | None,
        typer.Option(
            help="With --attributes: whose value the guards are told when they protect: everyone (usual), or nobody.",
            rich_help_panel=o.WISHES,
        ),
    ] = None
    drop_columns: Annotated[
        str, typer.Option(help="Columns that are not published, with commas between.", rich_help_panel=o.WISHES)
    ] = ""

    def given(self) -> dict[str, Any]:
        """Those that were named, but for the key."""
        read = {"key": None, "drop_columns": o.words(self.drop_columns)}
        return {name: value for name, value in {**vars(self), **read}.items() if value}


@dataclass(frozen=True)
class Check:
    """How the release is attacked before it is written, and what it must hold."""

    aim: Annotated[
        float | None,
        typer.Option(
            help="Instead of a budget: the accuracy that the strongest attacker may have.", rich_help_panel=CHECK
        ),
    ] = None
    aim_auc: Annotated[float | None, typer.Option(help="The same for his AUC.", rich_help_panel=CHECK)] = None
    no_check: Annotated[bool, typer.Option("--no-check", help="Do not attack the release.", rich_help_panel=CHECK)] = (
        False
    )
    even_if_worse: Annotated[
        bool,
        typer.Option(
            "--even-if-worse", help="Write it even if it tells more than the original.", rich_help_panel=CHECK
        ),
    ] = False

    def options(self) -> dict[str, Any]:
        """As the operation takes them."""
        asked = {"aim": self.aim, "aim_auc": self.aim_auc}
        return {**asked, "check": not self.no_check, "even_if_worse": self.even_if_worse}


@dataclass(frozen=True)
class Size:
    """How a table is protected that need not fit into memory; with --guard and --key."""

    engine: Annotated[
        str,
        typer.Option(
            help="memory, embedded (DuckDB, into a folder of parts), spark (the same on a cluster), or auto: embedded "
            "for a folder, a glob, a table of a database (FILE:TABLE) and files from 512 MiB on.",
            rich_help_panel=SIZE,
        ),
    ] = "auto"
    master: Annotated[
        str | None,
        typer.Option(help="Where Spark is: spark://HOST:7077; all cores of this machine otherwise.",
                     rich_help_panel=SIZE),
    ] = None  # fmt: skip
    memory: Annotated[str, typer.Option(help="About what all processes together may use.", rich_help_panel=SIZE)] = (
        "2GB"
    )
    parts: Annotated[
        int | None, typer.Option(min=1, help="How many files; as the memory suggests otherwise.", rich_help_panel=SIZE)
    ] = None


@dataclass(frozen=True)
class Overrides:
    """Parameters of the guard."""

    goal: Annotated[
        str | None, typer.Option(help="mislead, conceal or both; else the guard's, and conceal without a guard.")
    ] = None
    policy: Annotated[str | None, typer.Option(help="modify_exist, add_new or modify_add (usual).")] = None
    budget: Annotated[
        float | None, typer.Option(help="Changed ratings a user, on average; else the guard's, or 4.")
    ] = None
    budget_over: Annotated[
        str | None,
        typer.Option(help="Whose budget: user (each user's) or everyone (an average); else the guard's, or everyone."),
    ] = None
    target: Annotated[str | None, typer.Option(help="train or uniform; else the guard's, or train.")] = None
    confidence: Annotated[str | None, typer.Option(help="A number, or auto; else the guard's, or the goal's.")] = None

    def options(self) -> dict[str, Any]:
        """Those that were named."""
        given = {**vars(self), "confidence": o.number_or_word(self.confidence)}
        return {name: value for name, value in given.items() if value is not None}


def protect(
    source: o.Source, own: Options, overrides: Overrides, wishes: Wishes, check: Check, size: Size,
    columns: o.Columns, reading: o.Reading, shown: o.Shown,
) -> None:  # fmt: skip
    """Release a protected version of a table of ratings, in the same format, and attack it before it is written.

    With --attributes: a table of your own. Guards are learnt from its users, and attackers who know the guard and
    retrain attack the release; if one infers more than from the original, it is not written (exit code 3). With
    --guard: users whose value nobody knows. What a guard does not protect against stands in docs/limits.md.

    A folder, a glob or a table of a database (FILE:TABLE), and a file of 512 MiB and more, is released as a folder of
    parts, and never as a whole in memory. The same command goes on where it stopped.
    """
    import attriguard as ag
    from attriguard.cli._shell import STANDARD, check_files

    if wishes.key and own.seed is not None:
        raise ParameterError("give either --key or --seed: a keyed draw leaves nothing to chance")
    reads = [own.guard, wishes.locked, wishes.additions, wishes.key_file]
    if source.ratings not in (None, STANDARD) and (engine := ag.choose_engine(source.ratings, size.engine)) != "memory":
        _refuse_useless(source, own, wishes, check, reading)
        check_files(shown, result=own.report, read=reads)
        given = columns.given() | wishes.given() | overrides.options() | {"key": wishes.read_key()}
        return _in_parts(source.ratings, own, given | {"engine": engine}, size, shown)
    check_files(shown, tables=source.files, table=own.output, plan=own.plan, result=own.report, read=reads)
    given = check.options() | wishes.given() | overrides.options() | {"key": wishes.read_key(), "guard": _guard(own)}
    ratings, how = o.load_for(own.guard, source, columns, reading, shown)
    _in_memory(ratings, own, given | how, shown, source.told)


def _in_memory(ratings: Any, own: Options, given: dict[str, Any], shown: o.Shown, told: list[Path]) -> None:
    """A table that is read, protected and written as a whole."""
    import attriguard as ag
    from attriguard.cli._shell import bar, note, warn

    with bar(shown) as progress:
        released = ag.protect(ratings, random_state=own.seed, progress=progress, **given)
    if own.guard is not None:
        o.tell(released.data, shown)
    warn(released.warnings)
    if not (given["key"] or own.seed is not None or shown.quiet):
        note(NO_KEY)
    _write(released, own, shown, [*told, *filter(None, [own.guard])])


def _in_parts(ratings: Path, own: Options, given: dict[str, Any], size: Size, shown: o.Shown) -> None:
    """A table that need not fit into memory, into a folder."""
    import attriguard as ag
    from attriguard._lazy import leave_pandas_out
    from attriguard.cli._shell import bar, note, show, warn

    if given["engine"] == "embedded":
        leave_pandas_out()
    guard = _guard(own)
    if guard is None:
        raise ParameterError("a release in parts needs a guard: learn one with attriguard fit, and use --guard")
    try:
        with bar(shown) as progress:
            how: dict[str, Any] = {"master": size.master, "memory": size.memory, "parts": size.parts}
            result = ag.protect_files(ratings, guard, own.output, progress=progress, **how, **given)
    except KeyboardInterrupt:
        if given["engine"] == "embedded":
            note(f"attriguard: the same command goes on where it stopped; {own.output} is not whole without _SUCCESS")
        raise
    warn(result.warnings)
    show(result, shown, drawn=own.report, tables=False, read=[own.guard] if own.guard else [])


def _refuse_useless(source: o.Source, own: Options, wishes: Wishes, check: Check, reading: o.Reading) -> None:
    """What a release in parts does not have."""
    asked = {
        "--attributes": source.attributes, "--attribute": source.attribute, "--dataset": source.dataset,
        "--item-names": source.item_names, "--seed": own.seed, "--plan": own.plan, "--aim": check.aim,
        "--aim-auc": check.aim_auc, "--knows": wishes.knows, "--even-if-worse": check.even_if_worse or None,
        **{f"--{name.replace('_', '-')}": value for name, value in reading.given().items()},
    }  # fmt: skip
    useless = [name for name, value in asked.items() if value is not None]
    if useless:
        raise ParameterError(f"{', '.join(useless)}: of no use for a release in parts; leave out")


def _guard(own: Options) -> ag.AttriGuard | Path | None:
    """The guard's file; or the guard, where its signature is to be checked."""
    import attriguard as ag

    if own.verify is None:
        return own.guard
    if own.guard is None:
        raise ParameterError("--verify is for a guard file; name it with --guard")
    return ag.load_guard(own.guard, key=o.secret(own.verify))


def _write(released: ag.Released, own: Options, shown: o.Shown, read: list[Path]) -> None:
    """Everything that was asked for, but the release itself only where nothing speaks against it."""
    from attriguard.cli._shell import show, write

    if own.plan is not None and not released.refused:
        write(own.plan, released.save_plan)
    saved, tables = None if released.refused else own.output, released.check is not None
    show(released, shown, saved=saved, drawn=own.report, tables=tables, seed=own.seed, read=read)
    if released.refused:
        raise ReleaseRefusedError(released.refused)
