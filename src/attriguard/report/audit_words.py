"""What an audit found, in plain words: for the page, the terminal and the notebook."""

from __future__ import annotations

from attriguard.evaluation.audit import Audit
from attriguard.evaluation.inference import Estimate, Inference, strongest
from attriguard.evaluation.protection import Protection
from attriguard.evaluation.verdict import GIVES_AWAY, NOTHING_FOUND, SMALLEST_EFFECT
from attriguard.goals import get as get_goal
from attriguard.report.attack_names import plain_name

RULE = (
    "It is given away where the strongest attacker's AUC lies above 0.5, which is guessing, beyond its 95 % interval; "
    f"nothing was found where that interval ends below {SMALLEST_EFFECT:g} and the AUC is less than half a standard "
    "error above 0.5; otherwise there are too few users to tell. The interval takes into account that the strongest "
    "attacker was picked, and that attackers have learnt from one another's users."
)


def name_of(attack: str) -> str:
    """Plain words first: "logistic regression (LR-A)"."""
    plain = plain_name(attack)
    return attack if plain == attack else f"{plain} ({attack})"


def who(found: Inference) -> str:
    """An attacker, and whether he knows the guard."""
    return name_of(found.attack) + (", who knows the guard and retrains" if found.retrained else "")


def in_100(share: float) -> str:
    """A share as a whole number of a hundred."""
    return f"{100 * share:.0f}"


def summary(audit: Audit) -> str:
    """The verdict; and, where something is given away, what is left of it after protection."""
    finding = audit.verdict.finding
    if finding == GIVES_AWAY:
        return " ".join([_given_away(audit), *_after(audit)])
    return _nothing(audit) if finding == NOTHING_FOUND else _too_few(audit)


def inferred(audit: Audit, share: float) -> str:
    """What an attacker does who reaches a figure: "infers it for 45"; "tells which is which in 91 of 100 pairs"."""
    if audit.figure == "accuracy":
        return f"infers it for {in_100(share)}"
    return f"tells which is which in {in_100(share)} of 100 pairs"


def _given_away(audit: Audit) -> str:
    best = strongest(audit.now.found, audit.figure)
    figure: Estimate = getattr(best, audit.figure)
    given = "of 100 users" if audit.figure == "accuracy" else _pair(audit)
    low, high = max(0.0, figure.value - figure.margin), min(1.0, figure.value + figure.margin)
    return (
        f"The ratings give “{audit.about.attribute}” away: {given}, an attacker {inferred(audit, figure.value)} "
        f"(95 % interval: {in_100(low)} to {in_100(high)}); guessing gives {in_100(audit.guessing)}."
    )


def _pair(audit: Audit) -> str:
    return (
        "given two users, one of each value"
        if audit.about.m == 2
        else "given two users, one with a value and one without it"
    )


def _after(audit: Audit) -> list[str]:
    """The strongest attacker after protection, beside the strongest on the same users before it."""
    trial, figure = audit.trial, audit.figure
    if trial is None or not trial.budgets[-1]:
        return []
    before, after = trial.strongest(0.0, figure), trial.strongest(trial.budgets[-1], figure)
    was, left = (getattr(each, figure).value for each in (before, after))
    change = trial.change(figure)
    doubt = " The difference is within chance." if change.value + change.margin >= 0 else ""
    return [
        f"In a trial on {trial.n_test:,} users that it had not seen, a guard that changes {trial.changes[-1]:.1f} "
        f"ratings a user on average brings this from {in_100(was)} to {in_100(max(left, audit.guessing))}, against the "
        f"strongest attacker: {who(after)}.{doubt}"
    ]


def _nothing(audit: Audit) -> str:
    verdict = audit.verdict
    return (
        f"Nothing was found: {_pair(audit)}, the strongest of {verdict.attackers} attackers tells which is which in "
        f"{in_100(verdict.strongest.auc.value)} of 100 pairs; guessing gives 50. Among {audit.now.n_users:,} users who "
        f"disclose “{audit.about.attribute}”, {in_100(verdict.smallest_shown)} of 100 would have shown; less would "
        "not, nor would an attacker of another kind."
    )


def _too_few(audit: Audit) -> str:
    verdict = audit.verdict
    return (
        f"Too few users to tell: {audit.now.n_users:,} disclose “{audit.about.attribute}”. "
        f"{_pair(audit).capitalize()}, the strongest of {verdict.attackers} attackers tells which is which in "
        f"{in_100(verdict.strongest.auc.value)} of 100 pairs (95 % interval: {in_100(verdict.low)} to "
        f"{in_100(verdict.high)}); guessing gives 50. It may be given away or not: among so many users, less than "
        f"{in_100(verdict.smallest_shown)} of 100 does not show."
    )


def remarks(audit: Audit) -> list[str]:
    """What a reader of the figures must know besides, a line each; the rule of the verdict comes last."""
    if audit.trial is None:
        return ["No guard was tried: some values have too few users for that (--min-users merges them).", RULE]
    return [*_of_the_guard(audit, audit.trial), RULE]


def _of_the_guard(audit: Audit, trial: Protection) -> list[str]:
    """What attackers infer who do not know the guard; or, where no others were tried, what those would."""
    attackers, figure, goal = trial.at(trial.budgets[-1]), audit.figure, audit.guard.goal
    unaware = [each for each in attackers if not each.retrained]
    if not trial.budgets[-1]:
        return []
    if len(unaware) == len(attackers):
        return [f"These attackers do not know the guard. An attacker who retrains {get_goal(goal).regained}"]
    best = strongest(unaware, figure)
    known = (
        f"Of the attackers who do not know that there is a guard, the strongest then "
        f"{inferred(audit, getattr(best, figure).value)}: {name_of(best.attack)}."
    )
    if goal == "mislead" and audit.verdict.finding == GIVES_AWAY:
        return [known, "The goal mislead is made for attackers who do not know the guard; see --all-goals for others."]
    return [known]
