"""Parts of the site that are read from the package itself: its commands, its registries, its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import attriguard.cli
from attriguard.report.glossary import WORDS

# Pages of the repository that the site shows under a name of its own.
INCLUDED = re.compile(r"```\{include\} \.\./(\w+\.md)\n```\n")
SHOWN = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md"}


class Generated(SphinxDirective):
    """A directive whose content is Markdown that a function writes."""

    optional_arguments = 1
    has_content = False

    def lines(self) -> Iterator[str]:
        """The Markdown, line by line."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """The nodes of that Markdown, with headings that become sections of the page."""
        return self.parse_text_to_nodes("\n".join(self.lines()), allow_section_headings=True)


class Commands(Generated):
    """Every command with its usage, its help and its options, walked through as the command line knows them."""

    def lines(self) -> Iterator[str]:
        """A section for each command."""
        root = typer.main.get_command(attriguard.cli.app)
        yield from _command(root, typer.Context(root, info_name="attriguard"), title="All commands")


def _command(command: Any, context: Any, title: str = "") -> Iterator[str]:
    """One command, and then those that it groups."""
    yield f"## {title or context.command_path}"
    yield f"\n```text\n{' '.join(command.get_usage(context).split())}\n```\n"
    yield _plain(command.help or "")
    yield ""
    shown = [record for option in command.params if (record := option.get_help_record(context)) is not None]
    if shown:
        yield "| option | what it does |\n| --- | --- |"
        yield from (f"| `{_cell(name)}` | {_cell(_plain(text))} |" for name, text in shown)
    if command.epilog:
        text, _, example = command.epilog.partition("Example: ")
        yield f"\n{_plain(text)}\n" + (f"\n```sh\n{example}\n```\n" if example else "")
    for name, each in getattr(command, "commands", {}).items():
        yield from _command(each, typer.Context(each, info_name=name, parent=context))


def _plain(text: str) -> str:
    """Text in which no sign of Markdown has a meaning; paragraphs stay."""
    return "".join(f"\\{sign}" if sign in "[]<>*_`" else sign for sign in text)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


class NamedThings(Generated):
    """A registry as a table: ``{named-things} attacks.ATTACKS``."""

    def lines(self) -> Iterator[str]:
        """A row for each name."""
        module, _, table = self.arguments[0].partition(".")
        yield "| name | what it is | needs | class |\n| --- | --- | --- | --- |"
        for name, each in getattr(import_module(f"attriguard.{module}"), table).items():
            needs = ", ".join(each.needs) or "–"
            yield f"| `{name}` | {_cell(_plain(each.summary))} | {needs} | `attriguard.{module}.{each.__name__}` |"


class Words(Generated):
    """The words that reports explain, as a glossary."""

    def lines(self) -> Iterator[str]:
        """A term and its meaning, by the alphabet."""
        for spellings, meaning in sorted(WORDS, key=lambda entry: entry[0][0].lower()):
            yield f"{', '.join(spellings)}\n: {_plain(meaning)}\n"


def show_pages_of_the_repository(app: Sphinx, docname: str, source: list[str]) -> None:
    """A page that only includes one of the repository's becomes that page. Links to those lead to where they are shown.

    Folders outside docs/ are named, since a site has none.
    """
    up = "../" * (1 + docname.count("/"))
    included = INCLUDED.fullmatch(source[0])
    if included:
        path = app.srcdir.parent / included[1]
        app.env.note_dependency(path)
        source[0] = path.read_text(encoding="utf-8").replace("](docs/", "](")
    for name, shown in SHOWN.items():
        source[0] = source[0].replace(f"]({'' if included else up}{name}", f"]({up[3:]}{shown}")
    source[0] = re.sub(rf"\[([^\]]+)\]\({re.escape(up)}([^)]+/)\)", r"\1: `\2`", source[0])


def leave_out_inherited_plumbing(
    app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any
) -> bool | None:
    """scikit-learn gives every estimator `set_fit_request` and the like, whose help leads to its own site."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls when it loads this extension."""
    app.add_directive("commands", Commands)
    app.add_directive("named-things", NamedThings)
    app.add_directive("words", Words)
    app.connect("source-read", show_pages_of_the_repository)
    app.connect("autodoc-skip-member", leave_out_inherited_plumbing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


__all__ = ["setup"]
