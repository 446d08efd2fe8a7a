"""The speed figures, each a ratio of two timings taken in the same run: machines are noisy, ratios less so.

``run(["phase1"])`` measures one part of the benchmark; `PARTS` says what there is and what each part needs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from attriguard.bench.measure import Figure
from attriguard.progress import Progress, ProgressLike

__all__ = ["PARTS", "Figure", "Part", "machine", "run"]


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of the benchmark: the file of this room whose ``run`` gives its figures."""

    name: str
    summary: str
    # "data": it works on a data set; "dataset": its floors depend on that set's name; "n_users": on how many users
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # extras that must be installed


PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        Part(name="startup", summary="How long `attriguard --help` and `import attriguard` take."),
        Part(name="reading", summary="How long reading a million ratings takes."),
        Part(
            name="phase1",
            summary="The greedy searches of Phase I against ART's saliency map method.",
            takes=("data",),
            needs=("bench",),
        ),
        Part(name="phase2", summary="Phase II against cvxpy with Clarabel.", takes=("data",), needs=("bench",)),
        Part(name="million", summary="How time and memory grow up to a plan for a million users."),
        Part(
            name="everyone",
            summary="Learning to conceal, and planning at one price against a budget of each user.",
            takes=("n_users",),
        ),
        Part(
            name="bulk",
            summary="A table in parts against DuckDB's sort and a plan by themselves, and killed and resumed.",
            takes=("n_users",),
            needs=("bulk",),
        ),
        Part(
            name="releases",
            summary="The second release of a table with a ledger against the first.",
            takes=("n_users",),
            needs=("bulk",),
        ),
        Part(
            name="heavy",
            summary="Removals from a user with thousands of ratings, against trying out every rating.",
            takes=("data",),
        ),
        Part(
            name="exact",
            summary="How much more noise the greedy searches need than the exact minimum.",
            takes=("data",),
        ),
        Part(
            name="network",
            summary="Networks of the paper's size: training against dense inputs, Phase I against autograd.",
            takes=("data", "dataset"),
            needs=("nn",),
        ),
        Part(
            name="conceal",
            summary='The search of the goal "conceal" against predicting again in torch.',
            takes=("data",),
            needs=("nn",),
        ),
        Part(
            name="searches",
            summary="Table 2 of the paper: success, noise and time of every noise search.",
            takes=("data",),
            needs=("bench", "nn"),
        ),
    )
}


def run(
    names: Iterable[str] = tuple(PARTS),
    *,
    dataset: str = "twin",
    users: int | None = None,
    progress: ProgressLike = None,
) -> list[Figure]:
    """Measure some parts, one after another.

    Parameters
    ----------
    names
        The parts, by their names in `PARTS`; all of them if not given.
    dataset
        The name of the data set for the parts that work on one; it is loaded when the first of them begins.
    users
        How many users the parts have that can be larger; each has its own number otherwise.
    progress
        Told which part is being measured.
    """
    from attriguard._checks import check_choice

    chosen = [PARTS[check_choice(name, PARTS, name="part")] for name in names]
    given: dict[str, Any] = {"dataset": dataset, "n_users": users}
    figures: list[Figure] = []
    for part, inner in Progress.of(progress).each(chosen, lambda part: part.name):
        if "data" in part.takes and "data" not in given:
            from attriguard.data.named.datasets import load_dataset

            given["data"] = load_dataset(dataset)
        measure: Callable[..., list[Figure]] = importlib.import_module(f"attriguard.bench.{part.name}").run
        figures += measure(**{name: given[name] for name in part.takes}, progress=inner)
    return figures


def machine() -> dict[str, Any]:
    """What the figures were measured with: the versions of Python and of the packages, and the number of threads."""
    import platform
    from importlib.metadata import version

    from attriguard.kernels.threads import n_threads

    packages = ("numpy", "scipy", "scikit-learn", "numba", "attriguard")
    return {"python": platform.python_version(), "threads": n_threads(), **{p: version(p) for p in packages}}
