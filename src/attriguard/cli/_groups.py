"""Options in groups: a command's function takes dataclasses, and Typer sees their fields as options of its own.

An option that takes names (see `_names`) is checked before the command runs, and completed by the shell.

A group is spelled once and used by every command that needs it::

    @dataclass(frozen=True)
    class Ratings:
        user: Annotated[str | None, typer.Option(help="The column of user ids.")] = None

    def audit(ratings: Ratings, out: Out) -> None: ...

    app.command("audit")(flat(audit))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from attriguard.cli._names import NAMES, check_names


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with the fields of its groups as parameters, required ones first."""
    groups: dict[str, Any] = {name: hint for name, hint in get_type_hints(command).items() if is_dataclass(hint)}
    parameters = [parameter for group in groups.values() for parameter in _parameters(group)]
    parameters.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)

    @wraps(command)
    def run(**given: Any) -> None:
        check_names(given)
        command(**{name: group(**{f.name: given[f.name] for f in fields(group)}) for name, group in groups.items()})

    # A paragraph is one line, which is then cut to the width of the terminal.
    run.__doc__ = "\n\n".join(" ".join(part.split()) for part in (command.__doc__ or "").split("\n\n"))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del run.__wrapped__
    return run


def _parameters(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for name in hints.keys() & NAMES.keys():
        hints[name].__metadata__[0].autocompletion = NAMES[name].complete
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=hints[each.name],
        )
        for each in fields(group)
    ]
