"""``attriguard fit``: ratings and attributes in, a guard file out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from attriguard.cli import _options as o
from attriguard.cli._shell import STANDARD
from attriguard.errors import ParameterError

SIZE = "Large tables"
EXAMPLE = "Example: attriguard fit ratings.csv --attributes users.csv --attribute city --output city.guard"


@dataclass(frozen=True)
class Options:
    """The options of ``fit`` alone."""

    output: Annotated[Path, typer.Option(help="The guard file to write.")]
    budget: Annotated[float, typer.Option(help="How many ratings may change, on average, a user.")] = 4.0
    epochs: Annotated[int | None, typer.Option(help="Passes over the users, at most.", rich_help_panel=o.NETWORK)] = (
        None
    )
    users: Annotated[
        int | None, typer.Option(min=1, help="Learn from a sample of so many users who disclose it.",
                                 rich_help_panel=SIZE)
    ] = None  # fmt: skip
    items: Annotated[
        int | None, typer.Option(min=1, help="Learn about the most rated items only.", rich_help_panel=SIZE)
    ] = None
    memory: Annotated[str, typer.Option(help="About what reading may use.", rich_help_panel=SIZE)] = "2GB"
    seed: o.Seed = None
    sign: Annotated[
        str | None,
        typer.Option(help="Sign the guard with a secret, for 'protect --verify'; @FILE reads it from a file."),
    ] = None


def fit(source: o.Source, own: Options, guard: o.Guard, columns: o.Columns, reading: o.Reading, shown: o.Shown) -> None:
    """Learn a guard from users who disclose the attribute.

    The guard file holds the classifier, the options, and salted hashes of the ids of the users it learnt from. Policy,
    budget and target can still be changed when protecting. The training of a network that was interrupted goes on when
    the same command is given again. Of a folder, a glob, a table of a database (FILE:TABLE) or a file of 512 MiB and
    more, 10,000 items and 200,000 users are taken; --items and --users take others, of any table.
    """
    import attriguard as ag
    from attriguard.cli._shell import bar, check_files, console, emit_json, write

    source.check()
    secret = o.secret(own.sign)
    sampled = _is_sampled(source, own)
    tables = [path for path in source.files if not (sampled and path == source.ratings)]
    check_files(shown, own.output, tables=tables, read=[secret] if isinstance(secret, Path) else ())
    options = guard.options(seed=own.seed, epochs=own.epochs)
    limits = {"users": own.users, "items": own.items, "memory": own.memory} if sampled else None
    data = o.load(source, columns, reading, shown, limits)
    with _checkpoint(guard, own.output) as checkpoint, bar(shown) as progress:
        learnt = ag.learn(
            data, budget=own.budget, checkpoint=checkpoint, random_state=own.seed, progress=progress, **options
        )
        write(own.output, lambda path: learnt.save(path, key=secret))
    facts = {
        "guard": str(own.output),
        "attribute": data.attribute,
        "goal": guard.goal,
        "values": len(learnt.values_),
        "users": int(learnt.counts_.sum()),
        "items": data.n_items,
        "ratings": data.X.nnz,
    }
    if shown.as_json:
        emit_json(facts)
    if shown.as_json or shown.quiet:
        return
    line = "learnt {attribute!r} ({values} values) from {users:,} users, {items:,} items and {ratings:,} ratings"
    console().print(f"{line.format(**facts)}\nwrote {own.output}", soft_wrap=True)


def _is_sampled(source: o.Source, own: Options) -> bool:
    """Whether the table is too large to be read whole, or only some of it is wanted."""
    import attriguard as ag

    asked = own.users is not None or own.items is not None
    if source.ratings is None or source.ratings == STANDARD:
        if asked:
            raise ParameterError("--users and --items are for tables in files; name one")
        return False
    return asked or ag.choose_engine(source.ratings) == "embedded"


@contextmanager
def _checkpoint(guard: o.Guard, output: Path) -> Iterator[Path | None]:
    """For a network: a checkpoint beside the guard, which is removed when the guard is there."""
    from attriguard.cli._shell import note

    if guard.classifier != "nn" or guard.goal == "conceal":
        yield None
        return
    checkpoint = output.with_name(f"{output.name}.training")
    try:
        yield checkpoint
    except KeyboardInterrupt:
        if checkpoint.exists():
            note(f"attriguard: {checkpoint} holds a whole epoch: give the same command again to go on from it")
        raise
    checkpoint.unlink(missing_ok=True)
