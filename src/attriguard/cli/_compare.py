"""The comparison of defenses that ``attriguard evaluate --defenses`` runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attriguard.errors import ParameterError

if TYPE_CHECKING:
    from attriguard.data.public_data import PublicData
    from attriguard.defenses.base import Defense
    from attriguard.evaluation.cache import Cache
    from attriguard.guard import AttriGuard
    from attriguard.report.page import Shown
    from attriguard.utility.recommenders import Recommender


def run_comparison(
    data: PublicData,
    guard: AttriGuard,
    wanted: str,
    attackers: Sequence[str],
    budgets: tuple[float, ...],
    *,
    hidden: int | None,
    ladders: Sequence[str],
    reach: str,
    recommender: str | None,
    at: float | None,
    holdouts: int,
    draws: int,
    seed: int,
    store: Cache,
    source: str,
    settings: dict[str, Any],
) -> Shown:
    """Attackers and defenses learn from the same training users, as in the paper."""
    import numpy as np
    from scipy.sparse import csr_array, vstack

    from attriguard._checks import check_number
    from attriguard.attacks import class_of, lineup
    from attriguard.cli._shell import progress
    from attriguard.evaluation.audit import split_for_audit
    from attriguard.evaluation.comparison import compare, comparison_steps
    from attriguard.evaluation.precision import common_level, precision_losses, strengths_at
    from attriguard.report.comparison import Comparison, Costs, shown_of
    from attriguard.utility.holdout import HELD_OUT

    for name in attackers:
        if class_of(name).needs_guard:
            raise ParameterError(f"{name} adapts to AttriGuard alone; leave it out when comparing defenses")
    attacks = lineup(attackers, random_state=seed, hidden=hidden)
    defenses = defenses_of(wanted, data, guard, seed)
    given = {"AttriGuard": budgets, **strengths_of(ladders, [defense.name for defense in defenses])}
    levels = levels_of(reach)
    learner = None if recommender is None else recommender_of(recommender, seed)
    train, test = split_for_audit(data, seed)
    with progress(comparison_steps(defenses, len(attacks), data.m, draws=draws)) as advance:
        tradeoffs = compare(
            defenses, attacks, test.X, test.y, train=(train.X, train.y), strengths=given, draws=draws, seed=seed,
            cache=store, progress=advance,
        )  # fmt: skip
    costs = None
    if learner is not None:
        first = attacks[0].name
        level = common_level(tradeoffs, first) if at is None else check_number(at, name="--at", low=0.0, high=1.0)
        chosen = strengths_at(tradeoffs, defenses, first, level)
        everybody = csr_array(vstack([train.X, test.X], format="csr"))
        with progress((1 + holdouts) * len(defenses)) as advance:
            for defense in defenses:
                advance(f"{defense.name} learns", 1)
                defense.fit(train.X, train.y)
            losses = precision_losses(
                everybody, np.arange(train.n_users, everybody.shape[0]), learner, defenses, chosen, test.y,
                holdouts=holdouts, seed=seed, cache=store, progress=advance,
            )  # fmt: skip
        few = int((np.diff(everybody.indptr) <= HELD_OUT).sum())
        costs = Costs(learner.name, first, level, holdouts, few, tuple(losses))
    most_frequent = np.bincount(train.y, minlength=data.m).argmax()
    return shown_of(
        Comparison(
            source=source,
            attribute=data.attribute,
            tradeoffs=tuple(tradeoffs),
            levels=levels,
            costs=costs,
            guessing=float(np.mean(test.y == most_frequent)),
            settings={**settings, "draws": draws, "training_users": train.n_users, "test_users": test.n_users},
        )
    )


def defenses_of(wanted: str, data: PublicData, guard: AttriGuard, seed: int) -> list[Defense]:
    """By name; AttriGuard with the options of ``guard``."""
    from attriguard.defenses import lineup, names

    asked = names() if wanted.strip() == "all" else [name.strip() for name in wanted.split(",") if name.strip()]
    options = {name: getattr(guard, name) for name in ("classifier", "search", "policy", "target", "goal")}
    return lineup(asked, scale=data.scale, random_state=seed, **options)


def recommender_of(name: str, seed: int) -> Recommender:
    """Made before the long work, so that a missing package is told at once."""
    from attriguard.utility import get
    from attriguard.utility.recommenders import load_extra

    chosen = get(name, random_state=seed)
    for package in chosen.packages:
        load_extra(package)
    return chosen


def strengths_of(given: Sequence[str], names: Sequence[str]) -> Mapping[str, Sequence[float]]:
    """BlurMe=1,10,100 → its strengths."""
    from attriguard._checks import check_choice

    known = {}
    for text in given:
        name, _, numbers = text.partition("=")
        check_choice(name.strip(), names, name="defense in --strengths")
        known[name.strip()] = _numbers(numbers, f"--strengths wants a defense and numbers, as in {name}=1,10,100")
    return known


def levels_of(text: str) -> tuple[float, ...]:
    levels = _numbers(text, "--reach wants shares of users with commas between, such as 0.3,0.2")
    if any(not 0 <= level <= 1 for level in levels):
        raise ParameterError(f"--reach wants shares of users between 0 and 1, got {text!r}")
    return tuple(sorted(set(levels), reverse=True))


def _numbers(text: str, wanted: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(f"{wanted}, got {text!r}") from None
