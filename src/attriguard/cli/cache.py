"""``attriguard cache``: what is kept between runs, where, how large it is, and getting rid of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from attriguard.cli._options import AsJson, Quiet

if TYPE_CHECKING:
    import attriguard as ag

EXAMPLE = "Example: attriguard cache clear predictions --yes"
app = typer.Typer(help="Show what is kept between runs, or clear it.")


@app.callback(invoke_without_command=True, epilog=EXAMPLE)
def cache(context: typer.Context, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Show what is kept between runs: where, what, and how large. 'attriguard cache clear' removes it.

    Downloaded data, predictions and networks are in the user's cache, which $ATTRIGUARD_CACHE moves. $NUMBA_CACHE_DIR
    moves the compiled code.
    """
    if context.invoked_subcommand is not None:
        context.default_map = {"clear": {"as_json": as_json, "quiet": quiet}}
        return
    import attriguard as ag
    from attriguard.cli._shell import console, emit_json, print_table

    found = ag.cache_info()
    if as_json:
        emit_json(found.record())
    elif quiet:
        console().print(found.folder, soft_wrap=True)
    else:
        print_table(table_of(found))
        console().print(f"{size_text(found.size)} in all; to remove it: attriguard cache clear")


@app.command("clear", epilog=EXAMPLE)
def clear(
    parts: Annotated[
        list[str] | None,
        typer.Argument(metavar="PART", help="data, predictions, networks, compiled; all otherwise."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Remove what is kept between runs, or some parts of it. Nothing is lost but the time to get it again."""
    import attriguard as ag
    from attriguard.cli._shell import console, emit_json, note

    asked = ag.cache_info(parts or ())
    n_files = sum(len(part.files) for part in asked.parts)
    if n_files and not yes:
        what = ", ".join(f"{part.name} ({size_text(part.size)})" for part in asked.parts if part.files)
        if not typer.confirm(f"Remove {what}?", default=False, err=True):
            note("Nothing was removed.")
            raise typer.Exit(1)
    freed = ag.clear_cache(parts or ())
    if as_json:
        emit_json(freed.record())
    elif not quiet:
        console().print(f"removed {n_files:,} files, {size_text(freed.size)}")


def table_of(found: ag.CacheInfo) -> ag.Table:
    """A row a part."""
    import attriguard as ag

    rows = [
        [part.name, part.meaning, f"{len(part.files):,}", size_text(part.size), str(part.folder)]
        for part in found.parts
    ]
    return ag.Table(["part", "what it is", "files", "size", "where"], rows, numeric=(2, 3))


def size_text(size: int) -> str:
    """Bytes for a person."""
    for unit, width in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= width:
            return f"{size / width:.1f} {unit}"
    return f"{size} bytes"
