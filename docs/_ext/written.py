"""Markdown that is written from the package itself: its commands, its registries, its words. Sphinx is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import typer

import attriguard.cli
from attriguard.report.glossary import WORDS


def commands() -> Iterator[str]:
    """A section for each command: usage, help and options, as the command line itself knows them."""
    root = typer.main.get_command(attriguard.cli.app)
    yield from _command(root, typer.Context(root, info_name="attriguard"), title="All commands")


def _command(command: Any, context: Any, title: str = "") -> Iterator[str]:
    """One command, and then those that it groups."""
    yield f"## {title or context.command_path}"
    yield f"\n```text\n{' '.join(command.get_usage(context).split())}\n```\n"
    yield _plain(command.help or "") + "\n"
    shown = [record for option in command.params if (record := option.get_help_record(context)) is not None]
    if shown:
        yield "| option | what it does |\n| --- | --- |"
        yield from (f"| `{_cell(name)}` | {_cell(_plain(text))} |" for name, text in shown)
    if command.epilog:
        text, _, example = command.epilog.partition("Example: ")
        yield f"\n{_plain(text)}\n" + (f"\n```sh\n{example}\n```\n" if example else "")
    for name, each in getattr(command, "commands", {}).items():
        yield from _command(each, typer.Context(each, info_name=name, parent=context))


def named_things(registry: str) -> Iterator[str]:
    """A registry, such as "attacks.ATTACKS", as a table with a row for each name, and below it each class's options.

    What takes no options is asked for by its name alone: its class is not public.
    """
    module, _, table = registry.partition(".")
    room = import_module(f"attriguard.{module}")
    shown: dict[str, None] = {}  # each class once, in its order
    yield "| name | what it is | needs | class |\n| --- | --- | --- | --- |"
    for name, each in getattr(room, table).items():
        place, needs = f"attriguard.{module}.{each.__name__}", ", ".join(each.needs) or "–"
        public = hasattr(room, each.__name__)
        yield f"| `{name}` | {_cell(_plain(each.summary))} | {needs} | {f'`{place}`' if public else '–'} |"
        shown |= {place: None} if public else {}
    if shown:
        directives = (f".. autoclass:: {place}\n   :no-members:\n" for place in shown)
        yield "\n```{eval-rst}\n" + "\n".join(directives) + "```"


def words() -> Iterator[str]:
    """The words that reports explain, as a glossary by the alphabet."""
    for spellings, meaning in sorted(WORDS, key=lambda entry: entry[0][0].lower()):
        yield f"{', '.join(spellings)}\n: {_plain(meaning)}\n"


def _plain(text: str) -> str:
    """Text in which no sign of Markdown has a meaning; paragraphs stay."""
    return "".join(f"\\{sign}" if sign in "[]<>*_`" else sign for sign in text)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
