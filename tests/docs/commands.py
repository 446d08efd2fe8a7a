"""Commands that pages and help texts name: found, and parsed by the real command line without being run."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import typer
from typer.exceptions import Exit

from attriguard.cli import app
from attriguard.cli._names import check_names

FENCED = re.compile(r"^ *```.*?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
# A line, which goes on behind a backslash, after the prompt of a console.
LINE = re.compile(r"^ *(?:\$ )?(attriguard (?:.*\\\n)*.*)$", re.MULTILINE)
# Code within a sentence, from the command's name on.
INLINE = re.compile(r"`(?:uvx --from \. |python -m )?(attriguard\s[^`]+)`")
# Columns of a listing: what stands behind three blanks explains the command.
EXPLAINED = re.compile(r"(?<=\S) {3,}.*$", re.MULTILINE)
# In the package's own texts, a command stands between quotes.
QUOTED = re.compile(r"'(attriguard [a-z][^'\n]*)'")
LEFT_OUT = "…"


@dataclass(frozen=True)
class Command:
    """A command as it is written; ``part``: it may lack what the command requires."""

    text: str
    part: bool = False

    @property
    def words(self) -> list[str]:
        """What the shell would pass on."""
        words = shlex.split(EXPLAINED.sub("", re.sub(r"\\\n *", " ", self.text)), comments=True)
        return [word for word in words[1:] if word != LEFT_OUT]


def commands_of(page: str) -> Iterator[Command]:
    """Every command of a page: lines of its blocks, and code within its sentences."""
    for block in FENCED.findall(page):
        yield from (Command(line, LEFT_OUT in line) for line in LINE.findall(block))
    yield from (Command(" ".join(text.split()), part=True) for text in INLINE.findall(FENCED.sub("", page)))


def commands_of_code(source: str) -> Iterator[Command]:
    """Every command that a message or a help text names."""
    texts = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    for text in filter(lambda text: isinstance(text, str), texts):
        yield from (Command(quoted, part=True) for quoted in QUOTED.findall(text))


def help_examples() -> Iterator[Command]:
    """The example of every command's help."""
    for command in _below(typer.main.get_command(app)):
        _, found, example = (command.epilog or "").partition("Example: ")
        if found:
            yield Command(example)


def _below(command: Any) -> Iterator[Any]:
    yield command
    for each in getattr(command, "commands", {}).values():
        yield from _below(each)


def parse(command: Command) -> None:
    """Parse as far as the command would before it loads anything: options, choices, types, names."""
    own = typer.main.get_command(app)
    if command.part:
        for parameter in (parameter for each in _below(own) for parameter in each.params):
            parameter.required = False
    try:
        _parse(own, "attriguard", command.words, None)
    except Exit:  # --help, --version
        return


def _parse(command: Any, name: str, words: list[str], parent: Any) -> None:
    if not words and hasattr(command, "commands"):
        return  # a group by itself shows its help
    context = command.make_context(name, words, parent=parent)
    check_names(context.params)
    if rest := [*getattr(context, "_protected_args", ()), *context.args]:
        name, below, rest = command.resolve_command(context, rest)
        _parse(below, name, rest, context)
