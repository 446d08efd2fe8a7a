"""Small workspaces, in which figures are measured again with other choices or other seeds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attriguard.experiments.workspace import Workspace


def smaller(work: Workspace, seed: int, *, first: int, **sizes: Any) -> Workspace:
    """A workspace in the same folder with ``sizes`` of its own, given as fields of a profile.

    Every seed but the first has test users of its own; the first has those of the data's own split, if there is one.
    """
    profile = replace(
        work.profile, name="trial", rank=min(100, work.profile.rank), draws=2, overlaps=(0.0, 1.0), **sizes
    )
    data = work.data if seed == first else replace(work.data, test_mask=None)
    return Workspace(data, source=work.source, profile=profile, folder=work.folder, seed=seed)
