"""``attriguard demo``: the whole job on the embedded data set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from attriguard.cli import _options as o

EXAMPLE = "Example: attriguard demo --output demo.html"
BUDGETS = (1.0, 2.0, 3.0, 4.0)
# What a trial on the twin finds, which takes as long as all the rest.
SPLIT = 0.5
TITLE = "AttriGuard on the twin: what ratings give away, and what a few changes do about it"


@dataclass(frozen=True)
class Options:
    """The options of ``demo`` alone."""

    output: Annotated[Path, typer.Option(help="The HTML page to write.")] = Path("attriguard-demo.html")
    seed: Annotated[int, typer.Option(min=0, help="Seeds attackers and guard; the data is always the same.")] = 0


def demo(own: Options, shown: o.Shown) -> None:
    """Learn, attack, protect, attack again: the whole job on a synthetic data set, and an HTML page about it.

    16,238 users have rated apps; 1,631 of them keep their city private. A second page, whose name ends in -person.html,
    is for one of these people: it shows what ratings say, and what to change. Nothing is downloaded.
    """
    import attriguard as ag
    from attriguard.cli._shell import bar, note, show, write

    person = own.output.with_name(f"{own.output.stem}-person.html")
    ag.check_outputs(person, result=own.output)
    with bar(shown) as progress:
        data = ag.load_dataset("twin")
        about, for_people = progress.parts(3, 1)
        result = ag.audit(data, budgets=BUDGETS, title=TITLE, random_state=own.seed, progress=about)
        write(person, lambda path: ag.write_page(data, path, random_state=own.seed, progress=for_people, split=SPLIT))
    show(result, shown, saved=own.output, seed=own.seed)
    if not shown.quiet:
        note(f"attriguard: a page for one person: {person.resolve()}")
