"""``attriguard datasets``: which data sets there are, what is in them, and fetching them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from attriguard.cli._names import NAMES
from attriguard.cli._options import AsJson, Quiet

# More values than this are cut short on a terminal; --json gives them all.
MAX_SHOWN_VALUES = 40

app = typer.Typer(help="List, describe and fetch the named data sets.")


def _known(name: str) -> str:
    NAMES["dataset"].check(name)
    return name


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A name that 'attriguard datasets' lists.",
        autocompletion=NAMES["dataset"].complete,
        callback=_known,
    ),
]


@app.callback(invoke_without_command=True, epilog="Example: attriguard datasets")
def datasets(context: typer.Context, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """List, describe and fetch the named data sets; without a command, list them."""
    if context.invoked_subcommand is None:
        list_datasets(as_json=as_json, quiet=quiet)
    else:
        context.default_map = {name: {"as_json": as_json, "quiet": quiet} for name in ("list", "info", "fetch")}


@app.command("list", epilog="Example: attriguard datasets list --json")
def list_datasets(as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Show every data set, its size, and where it was found; with --quiet, the names alone."""
    import attriguard as ag
    from attriguard.cli._shell import console, emit_json

    rows = ag.list_datasets()
    if as_json:
        emit_json(rows)
    elif quiet:
        console().print("\n".join(row["name"] for row in rows))
    if as_json or quiet:
        return
    from rich.table import Table

    table = Table("data set", box=None, header_style="bold", pad_edge=False)
    for heading in ("users", "items"):
        table.add_column(heading, justify="right")
    table.add_column("attribute (values)")
    table.add_column("where", overflow="fold")
    for row in rows:
        table.add_row(row["name"], f"{row['users']:,}", f"{row['items']:,}", _attributes(row), _where(row))
    console().print(table)


@app.command("info", epilog="Example: attriguard datasets info movielens-1m --attribute gender --attribute age")
def info(
    name: Name,
    path: Annotated[Path | None, typer.Option(help="The folder with the data set's files.")] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="The private attribute; give several for a joint one.")
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Compare the files with the published ones.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Describe one data set: sizes, values, licence, citation, files. Downloads nothing."""
    import attriguard as ag
    from attriguard.cli._shell import emit_json

    facts = ag.describe_dataset(name, path, attribute=attribute, verify=verify)
    if as_json:
        emit_json(facts)
    elif not quiet:
        _print_facts(facts)


@app.command("fetch", epilog="Example: attriguard datasets fetch movielens-100k")
def fetch(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before downloading.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show the licence, then download a data set into the cache, every file checked by its hash."""
    import attriguard as ag
    from attriguard.cli._shell import console, emit_json, messages

    def show_terms(text: str) -> None:
        if not (quiet and yes):  # who is asked must see the licence
            messages().print(text, soft_wrap=True)
        if not yes and _somebody_answers() and not typer.confirm("Download it?", default=True, err=True):
            messages().print("Nothing was downloaded.")
            raise typer.Exit(1)

    found = ag.fetch_dataset(name, notify=show_terms)
    if as_json:
        where = found.folder or "embedded"
        emit_json({"name": name, "found": where, "downloaded": found.downloaded, "files": found.files})
    if as_json or quiet:
        return
    if found.folder is None:
        console().print(f"{name} is embedded: there is nothing to fetch.")
    else:
        verb = "downloaded to" if found.downloaded else "is here already:"
        console().print(f"{name} {verb} {found.folder}", soft_wrap=True)


def _somebody_answers() -> bool:
    import sys

    return sys.stdin.isatty()


def _attributes(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} ({m})" for name, m in row["attributes"].items())


def _where(row: dict[str, Any]) -> str:
    if row["found"] is None:
        return f"not here: attriguard datasets fetch {row['name']}"
    place = str(row["found"])
    return f"incomplete: no {', '.join(row['missing'])} in {place}" if row["missing"] else place


def _print_facts(facts: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    from attriguard.cli._shell import console

    table = Table(box=None, show_header=False, pad_edge=False, title_justify="left", title_style="bold")
    table.title = f"{facts['name']}: {facts['title']}"
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in _lines(facts):
        table.add_row(label, Text(text))
    console().print(table)


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [
        ("about", facts["description"]),
        ("where", _where(facts)),
        ("users", f"{facts['users']:,}"),
        ("items", f"{facts['items']:,}"),
    ]
    if "ratings" in facts:
        per_user = facts["ratings_per_user"]
        lines += [
            ("ratings", f"{facts['ratings']:,}, {facts['scale']}"),
            (
                "per user",
                f"min {per_user['min']}, median {per_user['median']:g}, mean {per_user['mean']:.2f}, "
                f"max {per_user['max']}",
            ),
        ]
        if facts["split"]:
            lines.append(("split", f"{facts['split']['train']:,} train, {facts['split']['test']:,} test"))
        lines.append((facts["attribute"], _shares(facts["values"])))
        if facts["undisclosed"]:
            lines.append(("undisclosed", f"{facts['undisclosed']:,} users"))
    lines.append(("attributes", _attributes(facts)))
    if facts["files"]:
        states = {True: "as published", False: "NOT the published file", None: "no published hash known"}
        checked = facts.get("as_published", {})
        names = [f"{name} ({states[checked[name]]})" if name in checked else name for name in facts["files"]]
        lines.append(("files", ", ".join(names)))
    return [*lines, ("licence", facts["licence"]), ("cite", facts["citation"])]


def _shares(values: dict[str, float]) -> str:
    shown = [f"{value}: {share:.1%}" for value, share in list(values.items())[:MAX_SHOWN_VALUES]]
    hidden = len(values) - len(shown)
    return ", ".join(shown) + (f" and {hidden} more (see --json)" if hidden else "")
