"""A reproduction as a page, figures and numbers: what the paper claims, what was measured, and where they differ."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from attriguard.data.files import make_folder, read_bytes, written_beside
from attriguard.errors import DataError
from attriguard.evaluation.paper import PAPER_DATASET
from attriguard.experiments import get, names
from attriguard.experiments.base import Numbers
from attriguard.experiments.runner import Finished, all_stored, run_all
from attriguard.experiments.sections import section, verdict_of
from attriguard.experiments.stated import choices_of, main_finding, summary
from attriguard.experiments.workspace import Workspace
from attriguard.progress import ProgressLike
from attriguard.report.origin import Origin
from attriguard.report.page import Page, Section, Table, facts_of, write_page
from attriguard.report.plots import Drawing, draw, without_published
from attriguard.report.record import versions

PAGE, RESULTS = "index.html", "results.json"


@dataclass(frozen=True)
class Reproduction:
    """The experiments that one page shows, and facts about the measurement."""

    source: str
    profile: str
    finished: Sequence[Finished]
    not_run: Sequence[str] = ()  # names of experiments that the page does not have
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def measured(self) -> list[tuple[Finished, Numbers]]:
        """The experiments that have numbers, with their numbers."""
        return [(each, each.numbers) for each in self.finished if each.numbers is not None]

    @property
    def verdicts(self) -> list[str]:
        """The verdict of every experiment that has numbers."""
        return [each.experiment.verdict(numbers) for each, numbers in self.measured]


def reproduce(
    wanted: Sequence[str], work: Workspace, progress: ProgressLike = None, earlier: Path | None = None
) -> Reproduction:
    """Run the experiments that are wanted, and gather everything that was measured in the same workspace.

    ``earlier`` is the file of numbers of another run: it serves for experiments that this workspace has not measured.
    """
    before = [] if earlier is None else recorded(earlier, work)
    with work.cache.alone():
        found = run_all(wanted, work, progress)
    shown = {each.experiment.name: each for each in (*before, *all_stored(work), *found)}
    command = f"attriguard reproduce --profile {work.profile.name} --dataset {work.source} --seed {work.seed}"
    return Reproduction(
        source=work.source,
        profile=work.profile.name,
        finished=side_by_side([shown[name] for name in names() if name in shown]),
        not_run=[name for name in names(papers_only=work.profile.papers_only) if name not in shown],
        facts={
            "command": command,
            "seed": work.seed,
            "versions": versions(),
            "training users": work.train.n_users,
            "test users": int(work.y.size),
            "items": work.data.n_items,
            "values": work.data.m,
            "hidden units, attacker": work.profile.attacker_units,
            "hidden units, defender": work.profile.defender_units,
        },
    )


def side_by_side(finished: Sequence[Finished]) -> list[Finished]:
    """Every experiment, with what it shows of the others."""
    known = {each.experiment.name: each.numbers for each in finished if each.numbers is not None}
    return [
        each if each.numbers is None else replace(each, numbers=each.experiment.beside(each.numbers, known))
        for each in finished
    ]


def recorded(file: Path, work: Workspace) -> list[Finished]:
    """What a file of numbers holds; one of another data set, profile or seed is refused."""
    try:
        known = json.loads(read_bytes(file))
        asked = {"dataset": work.source, "profile": work.profile.name, "seed": work.seed}
        found = {name: known[name] for name in asked}
        if found == asked:
            return [
                Finished(get(name), each["numbers"], each["seconds"], each["versions"])
                for name, each in known["experiments"].items()
            ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{file} is no file of numbers; name the results.json of a reproduction") from error
    raise DataError(f"{file} is of {found}, but this reproduction is of {asked}; name another file")


def write_reproduction(result: Reproduction, folder: Path) -> None:
    """The page, the figures as SVG and PNG, and the numbers."""
    make_folder(folder)
    drawings = drawings_of(result)
    for name, parts in drawings.items():
        shown = [part for part in parts if isinstance(part, Drawing)]
        for k, drawing in enumerate(shown):
            stem = name if len(shown) == 1 else f"{name}{'abcdefgh'[k]}"
            _write(folder / f"{stem}.svg", drawing.svg.encode())
            _write(folder / f"{stem}.png", drawing.png)
    _write(folder / RESULTS, (json.dumps(record(result), indent=1, ensure_ascii=False) + "\n").encode())
    page = reproduction_page(result, drawings)
    write_page(replace(page, origin=page.origin.writing(folder / RESULTS)), folder / PAGE)


def _write(path: Path, content: bytes) -> None:
    with written_beside(path) as file:
        file.write(content)


def drawings_of(result: Reproduction) -> dict[str, list[Drawing | Table]]:
    """Every experiment's figures, drawn, and its tables; what the paper reports is drawn on the paper's data alone."""
    papers = result.source == PAPER_DATASET
    return {each.experiment.name: _drawings(each, numbers, papers=papers) for each, numbers in result.measured}


def _drawings(each: Finished, numbers: Numbers, *, papers: bool) -> list[Drawing | Table]:
    shown = each.experiment.show(numbers)
    return [part if isinstance(part, Table) else draw(part if papers else without_published(part)) for part in shown]


def record(result: Reproduction) -> dict[str, Any]:
    """For machines."""
    return {
        **result.facts,
        "dataset": result.source,
        "profile": result.profile,
        "experiments": {each.experiment.name: _record_of(each, numbers) for each, numbers in result.measured},
        "not_run": [*result.not_run, *(each.experiment.name for each in result.finished if each.numbers is None)],
    }


def _record_of(each: Finished, numbers: Numbers) -> dict[str, Any]:
    experiment = each.experiment
    paper, found = experiment.main(numbers)
    return {
        "title": experiment.title,
        "claim": experiment.claim,
        "verdict": experiment.verdict(numbers),
        "paper": paper,
        "measured": found,
        "checks": [{"text": c.text, "found": c.found, "passed": bool(c.passed)} for c in experiment.checks(numbers)],
        "notes": list(experiment.notes(numbers)),
        "numbers": numbers,
        "seconds": {name: round(value, 1) for name, value in each.seconds.items()},
        "versions": each.versions,
    }


def claims_table(result: Reproduction) -> Table:
    """What the page opens with."""
    rows = []
    for each, numbers in result.measured:
        paper, found = each.experiment.main(numbers)
        rows.append([each.experiment.name, verdict_of(each, numbers), each.experiment.claim, paper, found])
    return Table(["experiment", "verdict", "claim", "the paper", "measured"], rows)


def reproduction_page(result: Reproduction, drawings: dict[str, list[Drawing | Table]]) -> Page:
    """The page: the main finding, the verdicts, then a section an experiment."""
    measured = [(each.experiment, numbers) for each, numbers in result.measured]
    papers = result.source == PAPER_DATASET
    sections = [] if papers else [_other_data(result.source)]
    left = [f"{name}: not run yet" for name in result.not_run]
    left += [f"{each.experiment.name}: {each.missing}" for each in result.finished if each.numbers is None]
    text = [summary(measured, result.source, result.profile)]
    if left:
        text.append(
            f"{len(measured)} of {len(left) + len(measured)} experiments are on this page; its end names the others."
        )
    sections.append(Section("Claims and verdicts", text, [_linked(claims_table(result))]))
    for each, numbers in result.measured:
        choices = choices_of(each.experiment, result.profile, result.facts)
        sections.append(section(each, numbers, drawings[each.experiment.name], choices, papers=papers))
    if left:
        sections.append(Section("Not on this page", ["What has no numbers yet has no verdict either."], points=left))
    facts = {name: value for name, value in result.facts.items() if name not in ("command", "seed", "versions")}
    return Page(
        title="AttriGuard, measured again",
        lead=" ".join(main_finding(measured) or text[:1]),
        sections=sections,
        facts=[("data", result.source), ("profile", result.profile), *facts_of(facts)],
        origin=Origin(result.facts.get("command", ""), result.facts.get("seed")),
    )


def _other_data(source: str) -> Section:
    return Section(
        "Not the paper's data",
        [
            f"These numbers were measured on “{source}”, since that was asked for or the paper's data is not on this "
            f"machine. They show that the code runs, and what such data is like; they neither confirm nor contradict "
            f"the paper. The paper's data: attriguard datasets fetch {PAPER_DATASET}."
        ],
        warning=True,
    )


def _linked(table: Table) -> Table:
    """The names of the experiments lead to their sections."""
    from markupsafe import Markup

    link = Markup('<a href="#{0}">{0}</a>')
    return replace(table, rows=[[link.format(row[0]), *row[1:]] for row in table.rows], stacked=True)
