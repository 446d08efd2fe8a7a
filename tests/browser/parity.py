"""The browser's search against Python's, with the page's own guard: the same changes, the same draw.

`python tests/browser/parity.py city.guard --users 1000` runs it for the twin's test users and prints what it counts.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from chromium import Chromium
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.goals import Learnt
from attriguard.kernels.reference.conceal import mean_posterior
from attriguard.noise.removals import find_changes
from attriguard.page.build import bundle, json_block
from attriguard.page.pack import Packed, pack, unpack

KEY = b"a secret of the parity test, 32+"
# Two changes whose leakage differs by no more than this may be made in either order.
NEAR = 1e-6
# Users that go to the browser at a time.
AT_ONCE = 50
ASK = """
globalThis.asMap = (pairs) => new Map(pairs);
globalThis.ask = ({people, goal, budgets, capped, locked, secret}) => people.map(({name, ratings}) =>
  budgets.map((budget) => {
    const wishes = {goal, budget, locked: new Set(locked), secret: Uint8Array.from(secret), person: name};
    const {changes, pointsTo} = plan(guard, asMap(ratings), capped ? wishes : {...wishes, most: Infinity});
    return {pointsTo, changes: changes.map(({item, to}) => [item, to])};
  }));
"""


@dataclass
class Count:
    """What was compared, and what differed."""

    plans: int = 0
    near: set[str] = field(default_factory=set)  # users whose order of removals differs by a near tie
    wrong: list[str] = field(default_factory=list)


def engine_page(folder: Path, packed: Packed) -> Path:
    """A page with the search and nothing else: `plan`, `infer` and the rest are global, and so is `guard`."""
    names = "openGuard, infer, telling, plan, toEntry, toRating, isGuessable, keyedNumbers"
    page = folder / "engine.html"
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><title>engine</title>'
        f'<script type="application/json" id="card">{json_block(packed.card)}</script>'
        f'<script type="application/octet-stream" id="guard">{base64.b64encode(packed.weights).decode()}</script>'
        f'<script type="module">{bundle("engine.js")}\nObject.assign(globalThis, {{{names}}});\n{ASK}'
        'globalThis.guard = openGuard(JSON.parse(document.getElementById("card").textContent), '
        'decodeBase64(document.getElementById("guard").textContent));</script>',
        encoding="utf-8",
    )
    return page


def ratings_of(X: csr_array, user: int) -> list[list[float]]:
    """One user's row as pairs of item and entry."""
    span = slice(X.indptr[user], X.indptr[user + 1])
    return [[int(j), float(x)] for j, x in zip(X.indices[span], X.data[span], strict=True)]


class Parity:
    """The two searches side by side, on the same users and with the same guard."""

    def __init__(self, browser: Chromium, packed: Packed, X: csr_array, *, locked: tuple[int, ...] = ()) -> None:
        self.browser, self.guard, self.X, self.locked = browser, unpack(packed.card, packed.weights), X, locked
        self.names = [f"person {u}" for u in range(X.shape[0])]
        self.pattern = None
        if locked:
            self.pattern = csr_array(np.isin(np.arange(X.shape[1]), locked)[None].repeat(X.shape[0], 0).astype("f4"))

    def compare(self, goal: str, budgets: list[float], *, capped: bool, count: Count) -> None:
        """All budgets of one goal; ``capped``: no more changes than the budget, as the page's slider has it."""
        found = self._browser(goal, budgets, capped)
        self.guard.set_params(goal=goal)
        sequences = self._sequences(int(max(budgets))) if self.guard.ensemble_ else None
        for k, budget in enumerate(budgets):
            most = max(1, int(budget)) if capped else None
            plan = self.guard.plan(self.X, budget=budget, most=most, locked=self.pattern, users=self.names)
            drawn = plan.draw(key=KEY)
            for u, name in enumerate(self.names):
                count.plans += 1
                items, values = plan.edits.of(u, int(drawn[u]))
                expected = sorted(zip(items.tolist(), values.tolist(), strict=True))
                got = found[u][k]
                same = sorted(map(tuple, got["changes"])) == expected
                if goal == "conceal":
                    same &= [item for item, _ in got["changes"]] == sequences[u][: len(expected)]
                else:
                    same &= got["pointsTo"] == drawn[u]
                if (
                    not same
                    and sequences is not None
                    and goal != "mislead"
                    and self._near(u, int(max(budgets)), sequences[u])
                ):
                    count.near.add(name)
                elif not same:
                    count.wrong.append(f"{goal}, budget {budget}, {name}: {got} instead of {drawn[u]} {expected}")

    def _browser(self, goal: str, budgets: list[float], capped: bool) -> list[Any]:
        answers: list[Any] = []
        for start in range(0, len(self.names), AT_ONCE):
            people = [
                {"name": self.names[u], "ratings": ratings_of(self.X, u)}
                for u in range(start, min(start + AT_ONCE, len(self.names)))
            ]
            asked = {"people": people, "goal": goal, "budgets": budgets, "capped": capped}
            asked |= {"locked": list(self.locked), "secret": list(KEY)}
            answers += self.browser.call("ask", asked, seconds=600)
        return answers

    def _sequences(self, most: int) -> list[list[int]]:
        constraints = self.guard.planner().settings.constraints
        found = find_changes(self.guard.ensemble_, self.X, constraints, most, locked=self.pattern)
        return [found.items[u, : found.lengths[u]].tolist() for u in range(self.X.shape[0])]

    def _removed(self, goal: str, budget: float, most: int | None) -> int:
        """How many of the changes are removals, at most."""
        spent = min(budget, most or budget)
        return int(np.ceil(spent)) if goal == "conceal" else int(np.floor(self.guard.split_ * spent + 0.5))

    def _near(self, user: int, most: int, expected: list[int]) -> bool:
        """Is the first difference of the orders one between two changes of nearly the same leakage?"""
        person = {"name": self.names[user], "ratings": ratings_of(self.X, user)}
        asked = {"people": [person], "goal": "conceal", "budgets": [most], "capped": True}
        changes = self.browser.call("ask", asked | {"locked": list(self.locked), "secret": list(KEY)})[0][0]["changes"]
        row = self.X[[user]].toarray()[0].astype(np.float64)
        e = self.guard.ensemble_
        entry = self.guard.planner().settings.constraints.upper

        def leakage(item: int) -> float:
            trial = row.copy()
            trial[item] = 0.0 if row[item] else entry[item]
            p = mean_posterior(trial, e.W1, e.b1, e.ends, e.W2_rows, e.b2)
            return float((p * np.log(p / e.prior)).sum())

        for (item, to), other in zip(changes, expected[:most], strict=True):
            if item != other:
                return abs(leakage(item) - leakage(other)) <= NEAR
            row[item] = to
        return False


def guard_of(models: dict[str, Any], n_items: int, m: int) -> ag.AttriGuard:
    """A guard with models that nobody has learnt."""
    guard = ag.AttriGuard(goal="both" if len(models) == 2 else "mislead", split=0.5)
    guard.learnt_ = Learnt(guard.goal, models, np.full(m, 100), 0.5)
    guard.classes_, guard.values_ = np.arange(m), tuple(f"value {i}" for i in range(m))
    guard.items_, guard.n_features_in_ = np.arange(n_items), n_items
    guard.metadata_, guard.seen_ = {"attribute": "city"}, None
    return guard


def measure(browser: Chromium, n_items: int, n_ratings: int = 300) -> dict[str, Any]:
    """Milliseconds from ratings to the whole answer, and for each move of the slider, for one busy person."""
    rng = np.random.default_rng(0)
    items = np.sort(rng.choice(n_items, n_ratings, replace=False))
    ratings = [[int(j), float(np.float32(x))] for j, x in zip(items, rng.integers(1, 6, n_ratings) / 5, strict=True)]
    return browser.call(
        """(ratings, secret) => {
          const person = asMap(ratings), wishes = {secret: Uint8Array.from(secret), person: "me"}, told = {};
          for (const goal of guard.goals) {
            guard.memory = null;
            const start = performance.now();
            infer(guard, person);
            telling(guard, person);
            plan(guard, person, {...wishes, goal, budget: 4});
            const drop = performance.now() - start, moves = [];
            for (const budget of [5, 6, 7, 8, 9, 10, 20, 3, 2, 1, 0, 15, 4]) {
              const before = performance.now();
              plan(guard, person, {...wishes, goal, budget});
              moves.push(performance.now() - before);
            }
            told[goal] = {drop, slowest: Math.max(...moves), moves};
          }
          return told;
        }""",
        ratings,
        list(KEY),
    )


def main() -> None:
    """The full count, on the twin's test users."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("guard", type=Path)
    asked.add_argument("--users", type=int, default=1000)
    asked.add_argument("--budgets", type=int, default=10)
    asked.add_argument("--folder", type=Path, default=Path("."))
    given = asked.parse_args()
    packed = pack(ag.load_guard(given.guard))
    X = ag.load_dataset("twin").split()[1].X[: given.users]
    with Chromium() as browser:
        browser.open(engine_page(given.folder, packed))
        for goal, told in measure(browser, X.shape[1]).items():
            sys.stdout.write(f"{goal}: drop to answer {told['drop']:.0f} ms, slowest move {told['slowest']:.1f} ms\n")
            sys.stdout.write(f"  moves {json.dumps([round(ms, 1) for ms in told['moves']])}\n")
        both = Parity(browser, packed, X)
        for goal in packed.card["goals"]:
            for capped in (True, False):
                count, start = Count(), time.monotonic()
                both.compare(goal, list(range(given.budgets + 1)), capped=capped, count=count)
                sys.stdout.write(
                    f"{goal}, capped {capped}: {count.plans:,} plans, {len(count.wrong)} wrong, "
                    f"{len(count.near)} users with a near tie, {time.monotonic() - start:.0f} s\n"
                )
                for line in count.wrong[:3]:
                    sys.stdout.write(f"  {line}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
