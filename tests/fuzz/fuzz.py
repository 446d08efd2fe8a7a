"""Run seeds of every kind in processes of their own, so that a crash is one failed seed and no more.

``python tests/fuzz/fuzz.py 10000`` for hours; ``--start`` goes on from a seed; ``--only inputs:17`` repeats one.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
# For 100 inputs, how many seeds of the other kinds.
SHARES = {"inputs": 100, "round-trips": 20, "guard-files": 50, "checkpoints": 25, "caches": 25, "kills": 2}
# The seeds that a process runs before another one takes its place; and the time after which a seed counts as hung.
BATCH, MOST_SECONDS = 250, 120
Task = tuple[str, int]


@dataclass(frozen=True)
class Outcome:
    """What came of a seed: a word, or the words of the failure."""

    kind: str
    seed: int
    word: str
    failed: bool = False


def run(tasks: Iterable[Task]) -> Iterator[Outcome]:
    """Run seeds one after another in another process; where that dies, its seed has failed and another one goes on."""
    left = list(tasks)
    while left:
        command = [sys.executable, str(Path(__file__)), "--worker", *(f"{kind}:{seed}" for kind, seed in left)]
        one_thread = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=one_thread
        ) as worker:
            for line in worker.stdout:
                mark, _, word = line.rstrip("\n").partition(" ")
                if mark in ("ok", "failed"):
                    yield Outcome(*left.pop(0), word, mark == "failed")
            told = worker.stderr.read().strip().replace("\n", " | ")
        if left:
            ended = f"the process ended with {worker.returncode}"
            yield Outcome(*left.pop(0), f"{ended}: {told[-1500:]}", failed=True)


def work(tasks: list[Task]) -> None:
    """What the other process does: a line a seed."""
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", message=".*fork")  # only the parent goes on with its threads
    answers, sys.stdout = sys.stdout, sys.stderr
    for kind, seed in tasks:
        faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
        if kind == "crash":  # for the tests of this file
            os.kill(os.getpid(), signal.SIGSEGV)
        from fuzz_properties import check

        try:
            answers.write(f"ok {check(kind, seed)}\n")
        except Exception as error:
            answers.write(f"failed {type(error).__name__}: {' | '.join(str(error).splitlines())[-1500:]}\n")
        answers.flush()


def seeds(inputs: int, start: int) -> list[Task]:
    """The seeds of a run of so many inputs, and of as many of the others as their share is."""
    return [
        (kind, seed)
        for kind, share in SHARES.items()
        for seed in range(start * share // 100, (start + inputs) * share // 100)
    ]


def main() -> int:
    """Run, count, and list what failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", type=int, nargs="?", default=1_000, help="how many inputs; the others in proportion")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many processes")
    parser.add_argument("--only", nargs="+", metavar="KIND:SEED", help="these seeds, and no others")
    parser.add_argument("--worker", nargs="+", metavar="KIND:SEED", help=argparse.SUPPRESS)
    given = parser.parse_args()
    named = [(kind, int(seed)) for kind, _, seed in (word.partition(":") for word in given.only or given.worker or ())]
    if given.worker:
        work(named)
        return 0
    tasks = named or seeds(given.inputs, given.start)
    batches = [tasks[k : k + BATCH] for k in range(0, len(tasks), BATCH)]
    began, counts, failures = time.monotonic(), Counter[tuple[str, str]](), list[Outcome]()
    with ThreadPoolExecutor(given.jobs) as pool:
        for outcomes in pool.map(lambda batch: list(run(batch)), batches):
            for outcome in outcomes:
                counts[outcome.kind, "FAILED" if outcome.failed else outcome.word] += 1
            failures += [outcome for outcome in outcomes if outcome.failed]
            for outcome in (each for each in outcomes if each.failed):
                sys.stdout.write(f"FAILED {outcome.kind}:{outcome.seed}  {outcome.word}\n")
            sys.stdout.flush()
    for kind in SHARES:
        words = {word: n for (name, word), n in sorted(counts.items()) if name == kind}
        told = ", ".join(f"{n:,} {word}" for word, n in words.items())
        sys.stdout.write(f"{kind:12} {sum(words.values()):8,}   {told}\n")
    sys.stdout.write(f"{time.monotonic() - began:.0f} seconds, {len(failures)} failed\n")
    if failures:
        again = " ".join(f"{each.kind}:{each.seed}" for each in failures[:50])
        sys.stdout.write(f"again: {Path(sys.executable).name} tests/fuzz/fuzz.py --only {again}\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main())
