"""The main numbers of figures 4 to 9, each under a name: what the text and the rules of these figures speak of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attriguard.experiments.base import Numbers
from attriguard.experiments.beyond_choices import policies_apart
from attriguard.experiments.curves import at
from attriguard.experiments.figure9 import CORE, OURS
from attriguard.experiments.workspace import LR_D, NN_D


def _curves(numbers: Numbers, budgets: Sequence[float]) -> dict[str, float | None]:
    return {
        f"{name}, budget {budget:g}": at(curve, budget)
        for name, curve in numbers["curves"].items()
        if name != "BA-A"
        for budget in budgets
    }


def _attacks(numbers: Numbers) -> dict[str, float | None]:
    adapted, plain = numbers["curves"]["AT-A"], numbers["curves"]["NN-A"]
    return {**_curves(numbers, (1.0, 2.0, 4.0)), "AT-A minus NN-A, budget 4": at(adapted, 4.0) - at(plain, 4.0)}


def _targets(numbers: Numbers) -> dict[str, float | None]:
    trained, uniform = (at(numbers["curves"][name], 8.0) for name in ("p from training", "p uniform"))
    return {**_curves(numbers, (4.0, 8.0)), "p uniform minus p from training, budget 8": uniform - trained}


def _defenders(numbers: Numbers) -> dict[str, float | None]:
    linear, network = (at(numbers["curves"][name], 4.0) for name in (LR_D, NN_D))
    return {**_curves(numbers, (2.0, 4.0)), "LR-D minus NN-D, budget 4": linear - network}


def _shared(numbers: Numbers) -> dict[str, float | None]:
    by_overlap = dict(zip(numbers["overlaps"], numbers["accuracy"], strict=True))
    none, every = by_overlap[0.0], by_overlap[1.0]
    return {"no shared users": none, "all users shared": every, "none minus all": none - every}


def _policies(numbers: Numbers) -> dict[str, float | None]:
    return {**_curves(numbers, (2.0, 4.0)), "Modify_Add minus Add_New, budgets 1 to 4": policies_apart(numbers)}


def _rivals(numbers: Numbers) -> dict[str, float | None]:
    ours = numbers["defenses"][OURS]
    k = ours["strengths"].index(CORE)
    needs = {f"{name}'s changes for the same": need[k] for name, need in numbers["rivals_need"].items()}
    return {"AttriGuard's changes, budget 2": ours["l0"][k], "NN-A then": ours["accuracy"][k], **needs}


# By figure; a number is None where there is none, such as the noise of a defense that never gets so far.
MAIN_NUMBERS: Mapping[str, Callable[[Numbers], dict[str, float | None]]] = {
    "figure-4": _attacks,
    "figure-5": _targets,
    "figure-6": _defenders,
    "figure-7": _shared,
    "figure-8": _policies,
    "figure-9": _rivals,
}
