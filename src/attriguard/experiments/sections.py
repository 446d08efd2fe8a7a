"""An experiment as a section of a page: claim, figures beside the paper's numbers, the rule and what it found."""

from __future__ import annotations

from collections.abc import Sequence

from attriguard.experiments.base import SIGNS, Experiment, Numbers
from attriguard.experiments.runner import Finished
from attriguard.report.page import Figure, Section, Table
from attriguard.report.plots import Drawing

NONE = "–"  # where the paper has no number
# Sign and word stay on one line.
YES, NO = "✓\N{NO-BREAK SPACE}yes", "✗\N{NO-BREAK SPACE}no"


def verdict_of(each: Finished, numbers: Numbers) -> str:
    """The verdict with its sign."""
    verdict = each.experiment.verdict(numbers)
    return f"{SIGNS[verdict]} {verdict}"


def section(
    each: Finished, numbers: Numbers, drawings: Sequence[Drawing | Table], choices: str, *, papers: bool
) -> Section:
    """The experiment's section; the paper's numbers stand beside ours where the data is the paper's."""
    experiment = each.experiment
    paper, found = experiment.main(numbers)
    return Section(
        title=f"{experiment.title}: {verdict_of(each, numbers)}",
        text=[
            f"Claim: {experiment.claim}",
            f"The paper reports: {experiment.reported}",
            f"Main number. {'' if paper == NONE else f'The paper: {paper}. '}Measured: {found}.",
            *experiment.notes(numbers),
        ],
        parts=[
            *(Figure(part.svg, f"{part.caption} {choices}".rstrip()) for part in drawings if isinstance(part, Drawing)),
            *(told_table(experiment, numbers) if papers else []),
            rule_table(experiment, numbers),
            *(part for part in drawings if isinstance(part, Table)),
        ],
        points=[f"Needs: {', '.join(experiment.inputs)}. {_took(each.seconds)}"],
        anchor=experiment.name,
    )


def told_table(experiment: Experiment, numbers: Numbers) -> list[Table]:
    """The numbers that the paper's text gives, beside ours; no table where it gives none."""
    rows = [[each.what, each.paper, each.measured] for each in experiment.told(numbers)]
    caption = "the numbers that the paper's text gives, beside ours"
    return [Table(["number", "the paper", "measured"], rows, caption=caption, stacked=True)] if rows else []


def rule_table(experiment: Experiment, numbers: Numbers) -> Table:
    """The parts of the claim, as they were tested."""
    return Table(
        ["the claim, tested", "found", "so"],
        [[c.text, c.found, YES if c.passed else NO] for c in experiment.checks(numbers)],
        caption="all must be so for the claim to hold; if the first is not, it does not hold",
        stacked=True,
    )


def _took(seconds: dict[str, float]) -> str:
    wall, cpu = seconds["wall"], seconds["cpu"]
    return f"Took {wall:,.0f} s here, {cpu:,.0f} s of computing (shared parts count where first made)."
