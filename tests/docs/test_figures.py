"""Tables in the findings say what the results say: no figure that no run printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FINDINGS = (ROOT / "docs" / "findings.md").read_text()
# Figures are rounded twice: to four digits in the results, to three in the text.
ROUNDED = 0.00056


def results(name):
    return json.loads((ROOT / "results" / name).read_text())


def table(start):
    """The rows of the table whose first line begins so, as lists of cells."""
    lines = iter(FINDINGS[FINDINGS.index(start) :].splitlines()[2:])
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return rows


def number(cell):
    """The first number of a cell; None where there is none."""
    found = re.search(r"\d[\d,]*\.?\d*", cell)
    return None if found is None else float(found.group().replace(",", ""))


def check(cells, figures, places=3):
    tolerance = ROUNDED * 10 ** (3 - places)
    for cell, figure in zip(cells, figures, strict=True):
        assert number(cell) == pytest.approx(figure, abs=tolerance), cells


def test_the_eight_attacks():
    known = results("google-play/attacks.json")
    at = [known["budgets"].index(budget) for budget in (1.0, 2.0, 4.0, 8.0)]
    rows = table("| attack | paper, no guard |")
    assert {row[0] for row in rows} == set(known["attacks"])
    for name, paper, *cells in rows:
        found = known["attacks"][name]
        assert number(paper) == found["paper_before"]
        check(cells, [found["before"], *(found["accuracy"][k] for k in at)])


def test_attackers_who_know_the_guard():
    aware = results("google-play/aware-panda.json")["aware"]
    kinds = {"does not know": "unaware", "retrained on protected users": "retrained"}
    for name, before, *cells in table("| attacker | no guard | budget 2 | 4 | 8 |"):
        if name.startswith("mechanism inversion"):
            found = next(aware["inversion"][key] for key in aware["inversion"] if name.split()[-1] in key)
        else:
            attack, words = name.split(", ")
            found = next(curve for key, curve in aware[kinds[words]].items() if attack in key)
        if before:
            check([before], [found["before"]])
        check(cells, found["accuracy"])


@pytest.mark.parametrize(
    ("start", "file"),
    [
        ("| goal, budget |", "google-play/goals.json"),
        ("| twin: goal, budget |", "twin/goals.json"),
        ("| two values: goal, budget |", "two-values/goals.json"),
    ],
)
def test_goals(start, file):
    known = results(file)
    for name, changes, unaware, knows, auc in table(start):
        if name == "none":
            continue
        goal, budget = name.replace("`", "").split(", ")
        k, records = known["budgets"].index(float(budget)), known["goals"][goal]
        check([changes], [sum(r["changes"][k] for r in records) / len(records)], places=2)
        check([auc], [sum(r["detection"][k] for r in records) / len(records)], places=2)
        for cell, who in ((unaware, "does_not_know"), (knows, "knows")):
            best = known["best_attacker"][goal][who]
            check(cell.split("±"), [best["mean"][k], best["interval"][k]])


def test_the_rival_searches():
    known = {figure["name"]: figure["value"] for figure in results("google-play/searches.json")["figures"]}
    for name, *cells in table("| search | success | mean L0 |"):
        for classifier, shown in (("LR-D", cells[:3]), ("network of 2,000 units", cells[3:])):
            of = f"{classifier}, {name.lower()}"
            for kind, cell in zip(("success", "noise", "time"), shown, strict=True):
                assert number(cell) == pytest.approx(known[f"{of}: {kind}"], rel=0.02), (of, kind)


def test_the_papers_searches_on_networks():
    found = results("google-play/paper/results.json")["experiments"]["table-2"]["numbers"]["searches"]["NN-D"]
    noise = results("google-play/paper/results.json")["experiments"]["figure-3"]["numbers"]["searches"]["NN-D"]
    cw, panda = found["cw"], found["panda"]
    for words in (
        f"{cw['success']:.1%} on NN-D ({cw['users']} users)".replace("%", " %"),
        f"{cw['seconds'] / panda['seconds']:.0f} times (NN-D) as fast as CW",
        f"CW takes {cw['seconds']:.0f} seconds a user",
        f"{noise['cw']['mean_l0_same']:.2f} against {noise['cw']['panda_same']:.2f} ({cw['users']} users)",
        f"`margin` needs {noise['margin']['mean_l0_same']:.2f} changes and `panda` {noise['margin']['panda_same']:.2f}",
    ):
        assert words in FINDINGS


def test_the_goals_against_a_network_of_the_papers_size():
    best = results("google-play/goals-large.json")["best_attacker"]
    for goal in ("conceal", "both"):
        shown = re.search(rf"([\d.]+ ± [\d.]+) and ([\d.]+ ± [\d.]+) behind `{goal}`", FINDINGS)
        for cell, who in zip(shown.groups(), ("does_not_know", "knows"), strict=True):
            check(cell.split("±"), [best[goal][who]["mean"][0], best[goal][who]["interval"][0]])


def test_every_result_that_is_named_is_there():
    named = set(re.findall(r"results/([\w/.-]+\.(?:json|html))", FINDINGS))
    assert named
    for name in named:
        assert (ROOT / "results" / name).is_file(), name
