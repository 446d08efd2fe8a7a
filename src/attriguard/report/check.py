"""The check of a release in words and tables: what attackers infer from the original, and what from the release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attriguard.evaluation.check import MEASURES, Check
from attriguard.evaluation.inference import Estimate, Inference
from attriguard.report.attack_names import full_name
from attriguard.report.page import Figure, Section, Table
from attriguard.report.plots import BarPlot, draw

NAMES = {"auc": "AUC", "accuracy": "accuracy", "balanced": "balanced accuracy"}
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
        ],
        parts=[_drawn(check), *check_tables(check), table],
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
    """One row a figure of an attacker, with half the width of its 95 % interval."""
    return [
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
    }


def _setting(found: Inference) -> str:
    return "retrained" if found.retrained else "unaware"
