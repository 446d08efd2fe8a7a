"""``ag.benchmark``: the speed figures, each a ratio of two timings taken in one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from attriguard import bench
from attriguard._text import count_of
from attriguard.bench.measure import Figure
from attriguard.operations.results import Result
from attriguard.progress import ProgressLike
from attriguard.report.page import Page, Section, Table


@dataclass(frozen=True, eq=False, repr=False)
class BenchmarkResult(Result):
    """Every figure, with the floor or ceiling that it is held to."""

    dataset: str
    figures: tuple[Figure, ...]
    machine: dict[str, Any] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """How many figures miss what is asked."""
        missed = sum(not figure.reached for figure in self.figures)
        return f"{count_of(len(self.figures), 'figure')} on {self.dataset}, {missed} missed"

    def rows(self) -> list[dict[str, Any]]:
        """One row a figure."""
        return [
            {
                "figure": figure.name,
                "value": float(figure.value),
                "unit": figure.unit,
                "floor": figure.floor,
                "ceiling": figure.ceiling,
                "reached": bool(figure.reached),
            }
            for figure in self.figures
        ]

    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        figures = [figure.record() for figure in self.figures]
        return {"dataset": self.dataset, "machine": self.machine, "figures": figures}

    def tables(self) -> list[Table]:
        """Measured and asked, side by side."""
        rows = []
        for figure in self.figures:
            asked = f"≥ {figure.floor:g}" if figure.floor is not None else ""
            asked = f"≤ {figure.ceiling:g}" if figure.ceiling is not None else asked
            missed = "" if figure.reached else "missed"
            rows.append([figure.name, f"{figure.value:,.4g}", figure.unit, asked, missed])
        return [Table(["figure", "measured", "unit", "asked", ""], rows, numeric=(1, 3))]

    def page(self) -> Page:
        """The same as a page."""
        facts = [(name, str(value)) for name, value in self.machine.items()]
        return Page("Speed", self.headline, [Section("Figures", parts=self.tables())], facts)


def benchmark(
    parts: Sequence[str] = (), *, dataset: str = "twin", users: int | None = None, progress: ProgressLike = None
) -> BenchmarkResult:
    """Measure what the program is held to.

    ``parts``: names from ``attriguard.bench.PARTS``, all if none is named. ``dataset``: for the parts that need one.
    ``users``: how many, for the parts that can be larger.
    """
    figures = bench.run(parts or list(bench.PARTS), dataset=dataset, users=users, progress=progress)
    return BenchmarkResult(dataset, tuple(figures), bench.machine())
