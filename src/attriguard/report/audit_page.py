"""The audit as a page that a privacy officer can read."""

from __future__ import annotations

from attriguard.evaluation.audit import Audit
from attriguard.evaluation.goals_compared import N
from attriguard.goals import GOALS
from attriguard.goals import get as get_goal
from attriguard.noise.policy import POLICIES
from attriguard.report.attack_names import plain_name
from attriguard.report.page import Figure, Page, Section, Table
from attriguard.report.plots import Line, line_plot

LIMITS = (
    "The figures are averages over users. A budget is an average, too: some users get more changes, some none.",
    "The guard hides one attribute. The ratings still say whatever else they say about a person.",
    "An attacker who has seen a user's unprotected ratings, or several releases drawn anew, can compare them. Use a "
    "secret key, so that a user gets the same noise every time.",
)


def percent(share: float) -> str:
    """A share of users as pages show it."""
    return f"{100 * share:.1f} %"


def summary(audit: Audit) -> str:
    """What was found, in two sentences."""
    worst, guess = audit.worst_now, audit.guessing
    now = (
        f"From their ratings alone, an attacker infers “{audit.data.attribute}” of {100 * worst.accuracy[0]:.0f} in "
        f"100 users who never disclosed it; by guessing it would be {100 * guess:.0f}."
    )
    if worst.accuracy[0] - worst.margin()[0] <= guess:
        return (
            f"{now} That is no more than chance: nothing was found. An attacker who infers less than "
            f"{100 * worst.margin()[0]:.0f} in 100 more than guessing would not show among {audit.n_test:,} users."
        )
    return (
        f"{now} With {worst.expected_cost[-1]:.1f} changed ratings a user on average, the same attacker infers "
        f"{100 * worst.accuracy[-1]:.0f} in 100."
    )


def audit_page(audit: Audit, *, title: str, source: str) -> Page:
    """The whole audit as a page; ``source`` names the data."""
    return Page(
        title=title,
        lead=summary(audit),
        sections=[
            _now(audit),
            _revealing(audit),
            _budgets(audit),
            *_knowing(audit),
            *_goals(audit),
            _spread(audit),
            _limits(audit),
            _method(audit),
        ],
        facts=[
            ("data", source),
            (
                "users",
                f"{audit.data.n_users:,}, of which {audit.n_train:,} to learn from and {audit.n_test:,} to attack",
            ),
            ("ratings", f"{audit.data.X.nnz:,} of {audit.data.n_items:,} items, {audit.data.scale}"),
            ("goal", f"{audit.guard.goal}: {get_goal(audit.guard.goal).summary}"),
            ("guard", _guard(audit)),
        ],
    )


def _guard(audit: Audit) -> str:
    guard = audit.guard
    needs = get_goal(guard.goal).needs
    parts = [str(guard.classifier), str(guard.search)] if "classifier" in needs else []
    if "ensemble" in needs:
        parts.append(f"{guard.members} small networks")
    return ", ".join([*parts, guard.policy])


def _name(attack: str) -> str:
    plain = plain_name(attack)
    return attack if plain == attack else f"{attack}: {plain}"


def _now(audit: Audit) -> Section:
    guess = audit.guessing
    rows = [
        [
            _name(curve.attack),
            percent(curve.accuracy[0]),
            f"± {percent(curve.margin()[0])}",
            f"{curve.accuracy[0] / guess:.1f} ×" if guess else "–",
        ]
        for curve in audit.curves
    ]
    return Section(
        title="What can be inferred now",
        text=[
            f"{audit.n_train:,} users stand for users who disclose “{audit.data.attribute}”; attackers learn from "
            f"them. {audit.n_test:,} other users stand for users who keep it private. The table shows for how many of "
            f"the latter an attacker names the right one of {audit.data.m} values."
        ],
        parts=[Table(["attacker", "right", "95 % interval", "against guessing"], rows, numeric=(1, 2, 3))],
    )


def _revealing(audit: Audit) -> Section:
    rows = [
        [
            audit.item_name(item.column),
            audit.data.values[item.value],
            f"{item.lift:.1f} ×",
            f"{item.users:,}",
            f"{1000 * item.bits:.1f}",
        ]
        for item in audit.revealing
    ]
    return Section(
        title="Which items give it away",
        text=[
            "Having rated one of these items says most about a user. “Times as frequent” compares the value's share "
            "among users who have rated the item with its share among all users. Items rated by fewer than ten users "
            "are not listed."
        ],
        parts=[
            Table(
                ["item", "points to", "times as frequent", "rated by", "information (millibits)"],
                rows,
                numeric=(2, 3, 4),
            )
        ],
    )


def _budgets(audit: Audit) -> Section:
    lines = [
        Line(curve.attack, curve.budgets, [100 * a for a in curve.accuracy], [100 * s for s in curve.margin()])
        for curve in audit.learnt
    ]
    plot = line_plot(
        lines,
        x_label="budget: changed ratings a user, on average",
        y_label="users whose value is inferred (%)",
        level=("guessing (BA-A)", 100 * audit.guessing),
    )
    rows = [
        [f"{budget:g}", *(percent(curve.accuracy[k]) for curve in audit.curves), f"{cost:.2f}"]
        for k, (budget, cost) in enumerate(zip(audit.budgets, audit.curves[0].expected_cost, strict=True))
    ]
    return Section(
        title="What each budget buys",
        text=[
            f"A budget is the number of ratings that may change, on average, for each user; here: {_changes(audit)}. "
            f"{get_goal(audit.guard.goal).how} It is not told the user's own value.",
            *_notes(audit),
        ],
        parts=[
            Figure(plot, "Users whose value an attacker infers, by budget. Bands: 95 % intervals."),
            Table(
                ["budget", *(curve.attack for curve in audit.curves), "changes made"],
                rows,
                numeric=range(len(audit.curves) + 2),
            ),
        ],
    )


def _changes(audit: Audit) -> str:
    policy = POLICIES[audit.guard.policy]
    return get_goal(audit.guard.goal).changes(policy)


def knowing_in_words(audit: Audit) -> list[str]:
    """What an attacker infers who does not know the guard, and the same attacker who knows it: a line each."""
    if audit.aware is None:
        return [
            f"These attackers do not know the guard. An attacker who retrains {get_goal(audit.guard.goal).regained}"
        ]
    (unaware,), (retrained,) = audit.aware.unaware, audit.aware.retrained
    budget, kind = f"{unaware.budgets[-1]:g}", plain_name(unaware.attack)
    return [
        f"An attacker who does not know you use this infers {_in_100(unaware.accuracy[-1])} at budget {budget} "
        f"({kind}; without the guard {_in_100(unaware.before or 0.0)}).",
        f"An attacker who knows and retrains infers {_in_100(retrained.accuracy[-1])}.",
    ]


def _in_100(share: float) -> str:
    return f"{100 * share:.0f} in 100"


def _knowing(audit: Audit) -> list[Section]:
    if audit.aware is None:
        return []
    (unaware,), (retrained,) = audit.aware.unaware, audit.aware.retrained
    rows = [
        ["without the guard", percent(unaware.before or 0.0)],
        ["with it, an attacker who does not know you use this", percent(unaware.accuracy[-1])],
        ["with it, an attacker who knows and retrains", percent(retrained.accuracy[-1])],
    ]
    text = (
        f"The guard learnt from {audit.aware.n_guard:,} of the training users, the attacker "
        f"({plain_name(unaware.attack)}) from the other {audit.aware.n_attacker:,}. The attacker who knows has "
        f"protected his users with that very guard, {audit.aware.draws} times each, and learnt from the releases. "
        f"Budget {unaware.budgets[-1]:g}."
    )
    table = Table(["attacker", "right"], rows, numeric=(1,))
    return [Section(title="If the attacker knows that you use this", text=[text], parts=[table], warning=True)]


def goals_tables(audit: Audit) -> list[Table]:
    """All goals side by side: attackers and detector by budget, and what a recommender loses."""
    rows, costs = [], []
    for each in audit.goals:
        (unaware,), (retrained,) = each.aware.unaware, each.aware.retrained
        rows.append([each.goal, "does not know", *map(percent, unaware.accuracy)])
        rows.append([each.goal, "knows and retrains", *map(percent, retrained.accuracy)])
        rows.append([each.goal, "tells protected users apart (AUC)", *(f"{auc:.2f}" for auc in each.aware.detection)])
        lost = "–" if each.precision_lost is None else percent(each.precision_lost)
        costs.append([each.goal, f"{each.precision_changes:.1f}", lost])
    budgets = audit.goals[0].aware.unaware[0].budgets
    return [
        Table(
            ["goal", "attacker", *(f"budget {budget:g}" for budget in budgets)],
            rows,
            numeric=range(2, 2 + len(budgets)),
        ),
        Table(
            ["goal", "changes made", "precision lost"],
            costs,
            numeric=(1, 2),
            caption=f"what a recommender (PureSVD, {N} items) loses for protected users at budget "
            f"{audit.goals[0].precision_budget:g}",
        ),
    ]


def _goals(audit: Audit) -> list[Section]:
    if not audit.goals:
        return []
    text = [f"{goal.name}: {goal.summary}" for goal in GOALS.values()]
    return [Section(title="Three goals a guard can have", points=text, parts=goals_tables(audit))]


def _notes(audit: Audit) -> list[str]:
    plan = audit.plan
    notes = []
    extended = int(plan.extended.sum())
    if extended:
        notes.append(
            f"For {percent(extended / plan.extended.size)} of all users and values the policy alone had no answer; "
            "there it was extended to changes of any kind."
        )
    missing = 0 if plan.target is None else int((~plan.success).sum())
    if missing:
        notes.append(f"{missing:,} combinations of user and value could not be reached and are never drawn.")
    return notes


def _spread(audit: Audit) -> Section:
    spread = audit.spread
    rows = [[size, percent(share)] for size, share in spread.sizes if share > 0]
    return Section(
        title="What it does to users",
        text=[
            f"With a budget of {audit.budgets[-1]:g}, a user gets {spread.added:.2f} new ratings on average, loses "
            f"{spread.removed:.2f}, and has {spread.rated_anew:.2f} rated anew. Users differ:"
        ],
        parts=[Table(["changes made to a user", "users"], rows, numeric=(1,))],
    )


def _regained(audit: Audit) -> str:
    """What knowing the guard is worth: as measured, or, where it was not measured, as it usually is."""
    if audit.aware is None:
        return get_goal(audit.guard.goal).regained
    (unaware,), (retrained,) = audit.aware.unaware, audit.aware.retrained
    return (
        f"infers {_in_100(retrained.accuracy[-1])} here, where without the guard it would be "
        f"{_in_100(unaware.before or 0.0)}. An attacker who tries to undo the guard's changes one by one may infer "
        "more; this was not tried."
    )


def _limits(audit: Audit) -> Section:
    knows = (
        "All other figures on this page are for attackers who do not know that the guard is used. An attacker who "
        f"knows it, protects users of his own with the same guard and trains on those, {_regained(audit)}"
    )
    return Section(title="What this does not protect against", points=(knows, *LIMITS), warning=True)


def _method(audit: Audit) -> Section:
    return Section(
        title="How it was measured",
        text=[
            "Attackers and guard learn from the same training users and never see the test users. Each attacker "
            "predicts on everything the guard could release; the figures weigh these predictions with the "
            "probabilities of the guard's draw, so they are exact expectations and free of sampling noise. The "
            "method is AttriGuard (Jia and Gong, USENIX Security 2018)."
        ],
    )
