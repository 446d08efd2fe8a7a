"""Running experiments: what is finished is not run again, and a run that was killed goes on where it stood."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from attriguard.data.sealed import read_record, write_record
from attriguard.errors import MissingExtraError
from attriguard.experiments import get, names
from attriguard.experiments.base import Experiment, Numbers
from attriguard.experiments.workspace import EXPERIMENTS, Workspace
from attriguard.progress import Progress, ProgressLike
from attriguard.report.record import versions

DONE, STARTED, NOT_STARTED = "done", "partly", "not started"


@dataclass(frozen=True)
class Finished:
    """An experiment and what it measured; or, without numbers, why it could not."""

    experiment: Experiment
    numbers: Numbers | None
    seconds: dict[str, float]
    versions: dict[str, str | None]
    missing: str = ""


def run_all(wanted: Iterable[str], work: Workspace, progress: ProgressLike = None) -> list[Finished]:
    """Each in turn; an experiment that needs an extra that is not installed is passed over, and says so."""
    experiments = [get(name) for name in wanted]
    if not experiments:
        return []
    weights = [experiment.effort[work.profile.papers_size] for experiment in experiments]
    found = []
    for experiment, part in zip(experiments, Progress.of(progress).parts(*weights), strict=True):
        try:
            found.append(run_one(experiment, work, part))
        except MissingExtraError as error:
            found.append(Finished(experiment, None, {}, versions(), str(error)))
    return found


def run_one(experiment: Experiment, work: Workspace, progress: ProgressLike = None) -> Finished:
    """The experiment as it was stored, or measured now and stored."""
    progress = Progress.of(progress).named(experiment.name)
    progress.tell("")
    known = stored(experiment, work)
    if known is not None:
        return known
    file = _file(experiment, work)
    file.parent.mkdir(parents=True, exist_ok=True)
    _started(file).touch()
    wall, cpu = time.perf_counter(), time.process_time()
    numbers = experiment.run(work, progress)
    seconds = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    record = {"experiment": experiment.name, "numbers": numbers, "seconds": seconds, "versions": versions()}
    write_record(record, file)
    _started(file).unlink(missing_ok=True)
    # Read again, so that a first run and a second run give the same.
    return stored(experiment, work) or Finished(experiment, numbers, seconds, versions())


def stored(experiment: Experiment, work: Workspace) -> Finished | None:
    """What was measured before with the same data, profile, seed and version; a damaged file counts as missing."""
    record = read_record(_file(experiment, work))
    if not isinstance(record, dict) or record.get("experiment") != experiment.name:
        return None
    return Finished(experiment, record["numbers"], record["seconds"], record["versions"])


def all_stored(work: Workspace) -> list[Finished]:
    """Everything that is finished, in the order of the paper."""
    return [known for name in names() if (known := stored(get(name), work)) is not None]


def state(experiment: Experiment, work: Workspace) -> str:
    """Whether the experiment is done, was begun, or was never begun."""
    if stored(experiment, work) is not None:
        return DONE
    return STARTED if _started(_file(experiment, work)).exists() else NOT_STARTED


def _file(experiment: Experiment, work: Workspace) -> Path:
    key = work.key_of(experiment.name, experiment.revision, work.key)
    return work.folder / EXPERIMENTS / f"{experiment.name}-{work.profile.name}-{key}.json"


def _started(file: Path) -> Path:
    return file.with_suffix(".started")
