"""The goals side by side over several seeds: accuracy over budgets for attackers who know the guard and who do not.

    python -m attriguard.experiments.goals --dataset google-play --work runs --output goals.json

A seed decides which training users are the guard's and which the attacker's, and everything that is learnt. What was
predicted is kept in the working folder, so that an interrupted run goes on where it stood.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attriguard.data.public_data import PublicData
from attriguard.evaluation.aware import Aware, evaluate_aware
from attriguard.evaluation.cache import Cache
from attriguard.evaluation.protocol import three_groups
from attriguard.experiments.record import interval, rounded, versions
from attriguard.goals import BOTH, GOALS
from attriguard.guard import AttriGuard

ATTACKS = ("LR-A", "RF-A", "MLP-A", "NN-A")
HIDDEN = 500
BUDGETS = (2.0, 4.0, 8.0)
SEEDS = (0, 1, 2)
# How often an attacker who retrains protects each of his users; two draws weaken MLP-A (docs/findings.md).
DRAWS = 1
KNOWS, UNAWARE = "knows", "does_not_know"


def run(
    data: PublicData,
    *,
    goals: Sequence[str] = tuple(GOALS),
    seeds: Sequence[int] = SEEDS,
    budgets: Sequence[float] = BUDGETS,
    attacks: Sequence[str] = ATTACKS,
    hidden: int = HIDDEN,
    split: float | None = None,
    confidence: float | str | None = None,
    draws: int = DRAWS,
    cache: Cache | None = None,
    progress: Callable[[str, float], None] = lambda _what, _steps: None,
) -> dict[str, Any]:
    """Figures of every goal, attack, budget and seed; and of every goal the best attacker, with an interval."""
    from attriguard.attacks import lineup

    found: dict[str, list[dict[str, Any]]] = {goal: [] for goal in goals}
    for seed in seeds:
        groups = three_groups(data, seed)
        for goal in goals:
            guard = AttriGuard(goal=goal, scale=data.scale, budget=float(np.median(budgets)), random_state=seed)
            guard.set_params(split=split if goal == BOTH else None, confidence=confidence)

            def report(what: str, steps: float, goal: str = goal, seed: int = seed) -> None:
                progress(f"{goal}, seed {seed}: {what}", steps)

            aware = evaluate_aware(
                groups, guard, lineup(attacks, random_state=seed, hidden=hidden), budgets, draws=draws, detector=True,
                seed=seed, cache=cache, progress=report,
            )  # fmt: skip
            found[goal].append(_record(aware, seed, guard.split_))
    return {
        "budgets": list(budgets),
        "attacks": list(attacks),
        "hidden": hidden,
        "draws": draws,
        "best_attacker": {goal: {who: _best(each, who) for who in (KNOWS, UNAWARE)} for goal, each in found.items()},
        "goals": found,
    }


def _record(aware: Aware, seed: int, split: float) -> dict[str, Any]:
    return {
        "seed": seed,
        "split": split,
        "users": {"guard": aware.n_guard, "attacker": aware.n_attacker, "test": aware.unaware[0].n_users},
        "changes": [rounded(cost) for cost in aware.unaware[0].expected_cost],
        "no_guard": {curve.attack: rounded(curve.before or 0.0) for curve in aware.unaware},
        UNAWARE: {curve.attack: [rounded(a) for a in curve.accuracy] for curve in aware.unaware},
        KNOWS: {
            plain.attack: [rounded(a) for a in curve.accuracy]
            for plain, curve in zip(aware.unaware, aware.retrained, strict=True)
        },
        "detection": [rounded(auc) for auc in aware.detection],
    }


def _best(records: Sequence[dict[str, Any]], who: str) -> dict[str, list[float]]:
    """For every budget the best attacker's accuracy: the mean over seeds, and half of its 95 % interval."""
    best = np.array([np.max(list(record[who].values()), axis=0) for record in records])
    return {"mean": [rounded(a) for a in best.mean(axis=0)], "interval": [rounded(a) for a in interval(best)]}


def twin_options(text: str) -> dict[str, Any]:
    """The twin's size from "users x items x values"; nothing for nothing."""
    if not text:
        return {}
    return dict(zip(("n_users", "n_items", "n_values"), map(int, text.split("x")), strict=True))


def main(arguments: Sequence[str] | None = None) -> None:
    from attriguard.cli._options import confidence_of
    from attriguard.cli._shell import progress, write_json
    from attriguard.data.named.datasets import load_dataset

    parser = argparse.ArgumentParser(prog="python -m attriguard.experiments.goals", description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="google-play")
    parser.add_argument("--goals", default=",".join(GOALS))
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--budgets", default=",".join(f"{b:g}" for b in BUDGETS))
    parser.add_argument("--attacks", default=",".join(ATTACKS))
    parser.add_argument("--hidden", type=int, default=HIDDEN)
    parser.add_argument("--split", type=float)
    parser.add_argument("--confidence", help="how far a misled value shall lead: a number, or auto")
    parser.add_argument("--twin", default="", help="users x items x values of the twin, such as 6040x3706x2")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args(arguments)
    data = load_dataset(given.dataset, **twin_options(given.twin))
    budgets = [float(b) for b in given.budgets.split(",")]
    with progress(1) as advance:
        result = run(
            data,
            goals=given.goals.split(","),
            seeds=[int(seed) for seed in given.seeds.split(",")],
            budgets=budgets,
            attacks=given.attacks.split(","),
            hidden=given.hidden,
            split=given.split,
            confidence=confidence_of(given.confidence),
            draws=given.draws,
            cache=Cache(given.work),
            progress=lambda what, _: advance(what, 0),
        )
    asked = {name: value for name, value in vars(given).items() if value not in (None, "", given.work, given.output)}
    command = " ".join(["python -m attriguard.experiments.goals", *(f"--{name} {v}" for name, v in asked.items())])
    write_json({"command": command, "dataset": given.dataset, **result, "versions": versions()}, given.output)


if __name__ == "__main__":
    main()
