"""Phase I searches side by side: what figure 3, table 2 and the yardstick share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attriguard.evaluation.figures import rounded
from attriguard.experiments.blocks import NoiseBlock
from attriguard.experiments.workspace import LR_D, NN_D, Workspace
from attriguard.noise.registry import SEARCHES
from attriguard.noise.registry import get as get_search
from attriguard.progress import Progress, ProgressLike

# The paper's four, then ours.
PAPERS = ("fgsm", "jsma", "cw", "panda")
ORDER = (*PAPERS, "margin", "exact")
SHOWN = {"fgsm": "FGSM", "jsma": "JSMA", "cw": "CW", "panda": "PANDA", "margin": "margin", "exact": "exact"}


def pairs(defenders: Sequence[str] = (LR_D, NN_D)) -> list[tuple[str, str]]:
    """(defender, search) that can be measured: the exact search works on linear classifiers alone."""
    return [(d, s) for d in defenders for s in ORDER if s in SEARCHES and not (s == "exact" and d == NN_D)]


def found_by(work: Workspace, defender: str, search: str, progress: ProgressLike = None) -> NoiseBlock:
    """Its noise for as many users as the profile grants it."""
    chosen: Any = search
    if search == "exact":
        from attriguard.noise.exact import Exact

        chosen = Exact(work.profile.exact_seconds)
    elif search == "cw":
        from attriguard.noise.carlini_wagner import CarliniWagner

        chosen = CarliniWagner(lead=work.choices.cw_lead)
    elif search == "jsma":
        from attriguard.noise.jsma import JSMA

        chosen = JSMA(pairs=work.choices.jsma_pairs)
    users = users_of(work, defender, search)
    return work.phase_one(defender, get_search(chosen), users=users, progress=progress)


def users_of(work: Workspace, defender: str, search: str) -> int:
    """How many users a search is measured on: as many as the profile grants it, at most all."""
    granted = work.profile.search_users[f"{search} {defender}"]
    return work.X.shape[0] if granted is None else min(work.X.shape[0], granted)


def measured(work: Workspace, defenders: Sequence[str] = (LR_D, NN_D)) -> list[tuple[str, str]]:
    """Those that the profile grants users."""
    return [pair for pair in pairs(defenders) if users_of(work, *pair)]


def compared(work: Workspace, progress: Progress, defenders: Sequence[str] = (LR_D, NN_D)) -> dict[str, dict[str, Any]]:
    """By defender and search: the noise a value, success, time, and PANDA's noise for the same users and values."""
    result: dict[str, dict[str, Any]] = {defender: {} for defender in defenders}
    chosen = measured(work, defenders)
    for (defender, search), part in progress.each(chosen, ", ".join):
        found, panda = found_by(work, defender, search, part), found_by(work, defender, "panda")
        result[defender][search] = summary(found, panda)
    return result


def summary(found: NoiseBlock, panda: NoiseBlock) -> dict[str, Any]:
    """Means are over pairs that were reached; PANDA's over those that both reached."""
    cost, success, n = found.edits.cost, found.edits.success, found.edits.n_users
    both = success[: panda.edits.n_users] & panda.edits.success[:n]
    k = both.shape[0]
    with np.errstate(invalid="ignore"):
        by_value = np.where(success, cost, 0.0).sum(axis=0) / success.sum(axis=0)
    return {
        "users": n,
        "success": rounded(success.mean(), 6),
        "mean_l0": rounded(cost[success].mean()) if success.any() else None,
        "mean_l0_same": rounded(cost[:k][both].mean()) if both.any() else None,
        "panda_same": rounded(panda.edits.cost[:k][both].mean()) if both.any() else None,
        "by_value": [None if np.isnan(mean) else rounded(mean) for mean in by_value],
        "proven": None if found.edits.bound is None else rounded((found.edits.bound == cost).mean(), 6),
        "seconds": found.seconds / n,
    }


def same_users(numbers: Mapping[str, Any], defender: str, search: str) -> tuple[float, float] | None:
    """A search's mean noise and PANDA's, for the same users and values; None where it was not measured."""
    entry = numbers["searches"][defender].get(search)
    if entry is None or entry["panda_same"] is None:
        return None
    return entry["mean_l0_same"], entry["panda_same"]
