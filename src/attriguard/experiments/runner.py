"""Running experiments: what is finished is not run again, and a run that was killed goes on where it stood."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attriguard._progress import Progress
from attriguard.data.files import written_beside
from attriguard.errors import MissingExtraError
from attriguard.experiments import get, names
from attriguard.experiments.base import Experiment, Numbers
from attriguard.experiments.record import versions
from attriguard.experiments.workspace import Workspace

DONE, STARTED, NOT_STARTED = "done", "partly", "not started"
# Steps of a progress bar for a second of effort.
A_SECOND = 100


@dataclass(frozen=True)
class Finished:
    """An experiment and what it measured; or, without numbers, why it could not."""

    experiment: Experiment
    numbers: Numbers | None
    seconds: dict[str, float]
    versions: dict[str, str | None]
    missing: str = ""


def run_all(wanted: Iterable[str], work: Workspace, progress: Progress) -> list[Finished]:
    """Each in turn; one that needs an extra that is not installed is passed over, and says so."""
    found = []
    for name in wanted:
        experiment = get(name)
        meter = Meter(experiment, work, progress)
        try:
            with work.reporting(meter):
                found.append(run_one(experiment, work))
        except MissingExtraError as error:
            found.append(Finished(experiment, None, {}, versions(), str(error)))
        meter.finish()
    return found


def run_one(experiment: Experiment, work: Workspace) -> Finished:
    known = stored(experiment, work)
    if known is not None:
        return known
    file = _file(experiment, work)
    file.parent.mkdir(parents=True, exist_ok=True)
    _started(file).touch()
    wall, cpu = time.perf_counter(), time.process_time()
    numbers = experiment.run(work)
    seconds = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    record = {"experiment": experiment.name, "numbers": numbers, "seconds": seconds, "versions": versions()}
    with written_beside(file) as opened:
        opened.write(json.dumps(record).encode())
    _started(file).unlink(missing_ok=True)
    # As it is read again, so that a first run and a second one give the same.
    return stored(experiment, work) or Finished(experiment, numbers, seconds, versions())


def stored(experiment: Experiment, work: Workspace) -> Finished | None:
    """What was measured before with the same data, profile, seed and version; a damaged file counts as missing."""
    file = _file(experiment, work)
    if not file.is_file():
        return None
    try:
        record: dict[str, Any] = json.loads(file.read_text())
        return Finished(experiment, record["numbers"], record["seconds"], record["versions"])
    except (OSError, ValueError, KeyError):
        return None


def all_stored(work: Workspace) -> list[Finished]:
    """Everything that is finished, in the order of the paper."""
    return [known for name in names() if (known := stored(get(name), work)) is not None]


def state(experiment: Experiment, work: Workspace) -> str:
    if stored(experiment, work) is not None:
        return DONE
    return STARTED if _started(_file(experiment, work)).exists() else NOT_STARTED


def effort(experiment: Experiment, work: Workspace) -> int:
    """Its share of a progress bar."""
    seconds = experiment.effort[work.profile.name == "paper"]
    return max(1, round(A_SECOND * seconds))


class Meter:
    """Turns the steps that an experiment reports into its share of the whole bar."""

    def __init__(self, experiment: Experiment, work: Workspace, progress: Progress) -> None:
        self.name, self.progress = experiment.name, progress
        self.total = effort(experiment, work)
        self.steps = max(1, experiment.n_steps(work))
        self.done, self.shown = 0.0, 0

    def __call__(self, what: str, steps: float) -> None:
        self.done += steps
        # The number of steps is a guess: the last bit of the bar is for the end.
        target = min(int(self.total * self.done / self.steps), self.total - 1)
        advance = max(0, target - self.shown)
        self.shown += advance
        self.progress(f"{self.name}: {what}", advance)

    def finish(self) -> None:
        self.progress(self.name, self.total - self.shown)


def _file(experiment: Experiment, work: Workspace) -> Path:
    key = work.key_of(experiment.name, experiment.revision, work.key)
    return work.folder / "experiments" / f"{experiment.name}-{work.profile.name}-{key}.json"


def _started(file: Path) -> Path:
    return file.with_suffix(".started")
