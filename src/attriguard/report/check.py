"""The check of a release in words and tables: what attackers infer from the original, and what from the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from attriguard.evaluation.check import MEASURES, Check
from attriguard.evaluation.forensics import Forensics
from attriguard.evaluation.inference import Estimate, Inference
from attriguard.report.attack_names import full_name
from attriguard.report.page import Figure, Section, Table
from attriguard.report.plots import BarPlot, draw

NAMES = {"auc": "AUC", "accuracy": "accuracy", "balanced": "balanced accuracy"}
# From this AUC on, whoever can tell added rows from others is worth a warning.
TOLD = 0.6
ORIGINAL, RETRAINED, UNAWARE = "original", "released, retrained", "released, unaware"


def verdict(check: Check) -> str:
    """What the strongest attacker infers from the original and from the release, in a sentence."""
    before, after = check.strongest_before(), check.strongest_after()
    if check.worse:
        said = "infers MORE from the release than from the original"
    elif check.helps:
        said = "infers less from the release than from the original"
    else:
        said = "infers about as much from the release as from the original"
    return (
        f"The strongest attacker {said}: AUC {shown(before.auc)} → {shown(after.auc)}, accuracy "
        f"{shown(check.strongest_before('accuracy').accuracy)} → {shown(check.strongest_after('accuracy').accuracy)} "
        f"(guessing: {check.guessing:.3f}; checked on {check.n_users:,} users)"
    )


def told(check: Check) -> str:
    """How well the rows that were added can be told from the others, in a sentence; "" where none was added."""
    return "" if check.forensics is None else told_rows(check.forensics)


def told_rows(found: Forensics) -> str:
    """The same of any table."""
    return f"Which rows were added can be told with AUC {found.auc:.3f} ± {found.margin:.3f} (0.5 is guessing)"


def check_warnings(check: Check) -> tuple[str, ...]:
    """What the publisher must know: added rows that can be told can be dropped, and with them the protection."""
    found = check.forensics
    if found is None or found.auc - found.margin <= 0.5 or found.auc <= TOLD:
        return ()
    return (
        f"which rows were added can be told with AUC {found.auc:.3f}, mostly by this: {found.by}; an attacker drops "
        "such rows, and the goal conceal adds none",
    )


def shown(figure: Estimate) -> str:
    """A figure with its interval."""
    return f"{figure.value:.3f} ± {figure.margin:.3f}"


def check_tables(check: Check) -> list[Table]:
    """The strongest attacker by each measure; and every attacker by the AUC."""
    strongest = [
        [
            NAMES[name],
            shown(getattr(check.strongest_before(name), name)),
            shown(getattr(check.strongest_after(name), name)),
            f"{check.change(name).value:+.3f} ± {check.change(name).margin:.3f}",
            f"{full_name(check.strongest_after(name).attack)}, {_setting(check.strongest_after(name))}",
        ]
        for name in MEASURES
    ]
    attackers = []
    for original in check.before:
        after = {each.retrained: each for each in check.after if each.attack == original.attack}
        row = [full_name(original.attack), *(shown(each.auc) for each in (original, after[True], after[False]))]
        attackers.append(row)
    head = ["measure", "original", "released", "change", "strongest on the release"]
    return [
        Table(head, strongest, numeric=(1, 2, 3), caption="The strongest attacker, before and after"),
        Table(
            ["attacker", ORIGINAL, RETRAINED, UNAWARE],
            attackers,
            numeric=(1, 2, 3),
            caption="Every attacker, by AUC: 0.5 is guessing",
        ),
    ]


def check_section(check: Check, values: Sequence[str]) -> Section:
    """The check on a page, with a table value by value."""
    before, after = check.strongest_before().by_value, check.strongest_after().by_value
    by_value = [
        [name, f"{old.users:,}", f"{old.auc:.3f}", f"{new.auc:.3f}", f"{old.recall:.3f}", f"{new.recall:.3f}"]
        for name, old, new in zip(values, before, after, strict=True)
    ]
    head = ["value", "users", "AUC, original", "AUC, released", "found, original", "found, released"]
    table = Table(head, by_value, numeric=(1, 2, 3, 4, 5), caption="Value by value, by the strongest attacker")
    return Section(
        "What attackers infer",
        text=[
            "Users whose value is known were divided into groups, and the users of each group were attacked by "
            "attackers who had learnt from the others. A retrained attacker learnt from released rows: he knows that "
            "there is a guard. An unaware one learnt from original rows. Who is wrong more often than chance turns his "
            "answers round. The release is judged by the strongest, by his AUC.",
            *filter(None, [_told_how(check)]),
        ],
        parts=[_drawn(check), *check_tables(check), table],
    )


def _told_how(check: Check) -> str:
    return "" if check.forensics is None else told_how(check.forensics)


def told_how(found: Forensics) -> str:
    """How well added rows can be told, by whom, and what tells most."""
    return (
        f"{told_rows(found)}, by whoever has nothing but the released table and looks at the order of its rows, their "
        f"cells and their ratings. What tells most: {found.by}."
    )


def _drawn(check: Check) -> Figure:
    after = {(each.attack, each.retrained): each.auc.value for each in check.after}
    plot = BarPlot(
        groups=["\n".join(full_name(each.attack).split()) for each in check.before],
        bars={
            ORIGINAL: [each.auc.value for each in check.before],
            RETRAINED: [after[each.attack, True] for each in check.before],
            UNAWARE: [after[each.attack, False] for each in check.before],
            "guessing": [0.5 for _ in check.before],
        },
        y_label="AUC",
        caption="What each attacker infers from the original rows, and from the released ones. Lower is better; 0.5 is "
        "guessing.",
    )
    drawing = draw(plot)
    return Figure(drawing.svg, drawing.caption)


def check_rows(check: Check) -> list[dict[str, Any]]:
    """One row a figure of an attacker, with half the width of its 95 % interval; and how well added rows are told."""
    found = check.forensics
    forensics = [] if found is None else [{"figure": "added_rows_auc", "value": found.auc, "interval": found.margin}]
    return forensics + [
        {
            "figure": name,
            "value": getattr(each, name).value,
            "interval": getattr(each, name).margin,
            "attack": each.attack,
            "learnt_from": each.learnt_from,
            "attacks": attacked,
        }
        for attacked, found in (("original", check.before), ("released", check.after))
        for each in found
        for name in MEASURES
    ]


def check_record(check: Check) -> dict[str, Any]:
    """Everything, as JSON knows it."""
    change = check.change()
    return {
        "users": check.n_users,
        "guessing": check.guessing,
        "worse": check.worse,
        "change_of_auc": {"value": change.value, "interval": change.margin},
        "figures": check_rows(check),
        "added_rows": None if check.forensics is None else asdict(check.forensics),
    }


def _setting(found: Inference) -> str:
    return "retrained" if found.retrained else "unaware"
