"""The audit as a page that a privacy officer can read: the verdict first, then charts, then tables."""

from __future__ import annotations

from attriguard.evaluation.audit import Audit
from attriguard.evaluation.goals_compared import N
from attriguard.evaluation.inference import Estimate, Inference, strongest
from attriguard.evaluation.protection import Protection
from attriguard.goals import GOALS
from attriguard.goals import get as get_goal
from attriguard.noise.policy import POLICIES
from attriguard.report.audit_words import RULE, name_of, remarks, summary
from attriguard.report.check import told_how
from attriguard.report.kept import figures_table, kept_section
from attriguard.report.officer_words import for_an_assessment
from attriguard.report.page import Figure, Page, Section, Table
from attriguard.report.plots import BarPlot, Line, draw, line_plot

LIMITS = (
    "The figures are averages over users. A budget is an average, too: some users get more changes, some none.",
    "The guard hides one attribute. The ratings still say whatever else they say about a person.",
    "An attacker of another kind, or with more users to learn from, may infer more. One who tries to undo the guard's "
    "changes one by one was not tried.",
    "An attacker who has seen a user's unprotected ratings, or several releases drawn anew, can compare them. Use a "
    "secret key, so that a user gets the same noise every time.",
)
KNOWS = "knows the guard and retrains"
# Values that a table lists at most, those that are given away most first; the record has all.
SHOWN_VALUES = 25


def percent(share: float) -> str:
    """A share of users as pages show it."""
    return f"{100 * share:.1f} %"


def audit_page(audit: Audit, *, title: str) -> Page:
    """The whole audit as a page."""
    about, now = audit.about, audit.now
    return Page(
        title=title,
        lead=summary(audit),
        sections=[
            _now(audit),
            *([kept_section(audit, audit.kept)] if audit.kept else []),
            *([_budgets(audit, audit.trial)] if audit.trial else []),
            _revealing(audit),
            *_goals(audit),
            *([_spread(audit.trial)] if audit.trial else []),
            _limits(),
            for_an_assessment(audit),
            _method(audit),
        ],
        facts=[
            ("data", about.source),
            ("users", f"{about.n_users:,}, of which {now.n_users:,} disclose “{about.attribute}”"),
            ("ratings", f"{about.n_ratings:,} of {about.n_items:,} items, {about.scale}"),
            ("verdict", audit.verdict.finding),
            ("goal", f"{audit.guard.goal}: {get_goal(audit.guard.goal).summary}"),
            ("guard", _guard(audit)),
        ],
    )


def _guard(audit: Audit) -> str:
    guard = audit.guard
    needs = get_goal(guard.goal).needs
    parts = [str(guard.classifier), str(guard.search)] if "classifier" in needs else []
    if "ensemble" in needs:
        parts.append(f"{guard.members} small networks and a naive Bayes")
    return ", ".join([*parts, guard.policy])


def now_table(audit: Audit) -> Table:
    """What every attacker infers from the ratings as they are."""
    caption = f"what attackers infer now, of {audit.now.n_users:,} users; ±: 95 % intervals"
    return figures_table((*audit.now.found, *audit.now.guesses), caption)


def values_table(audit: Audit) -> Table:
    """What the strongest attacker infers of each value."""
    best = strongest(audit.now.found)
    by_value = sorted(zip(audit.about.values, best.by_value, strict=True), key=lambda each: -each[1].auc)
    rows = [[name, f"{of.users:,}", f"{of.recall:.3f}", f"{of.auc:.3f}"] for name, of in by_value[:SHOWN_VALUES]]
    more = len(by_value) - len(rows)
    caption = f"value by value: {name_of(best.attack)}" + (f"; {more:,} more values have lower AUCs" if more else "")
    return Table(["value", "users", "recall", "AUC"], rows, numeric=(1, 2, 3), caption=caption)


def _now(audit: Audit) -> Section:
    now = audit.now
    plot = BarPlot(
        # A word a line, so that names stand upright.
        groups=["\n".join(name_of(each.attack).split()) for each in now.found],
        bars={
            "inferred now": [100 * getattr(each, audit.figure).value for each in now.found],
            "guessing": [100 * audit.guessing for _ in now.found],
        },
        y_label=_axis(audit),
        values=True,
        caption="What each attacker infers from the ratings as they are, beside guessing.",
    )
    times = "" if now.divisions == 1 else f", {now.divisions} times anew; the figures are means"
    text = (
        f"Every user who discloses “{audit.about.attribute}” was attacked, by attackers who had learnt from other "
        f"users: {now.n_users:,} users, divided into {now.groups} groups{times}. The verdict is: "
        f"{audit.verdict.finding}. Its rule, and what the figures mean, stand at the end of this page."
    )
    drawing = draw(plot)
    return Section(
        title="What can be inferred now",
        text=[text],
        parts=[Figure(drawing.svg, drawing.caption), now_table(audit), values_table(audit)],
    )


def _axis(audit: Audit) -> str:
    return "users whose value is inferred (%)" if audit.figure == "accuracy" else "pairs told apart (%)"


def _revealing(audit: Audit) -> Section:
    rows = [
        [
            audit.about.items[item.column],
            audit.about.values[item.value],
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


def _budgets(audit: Audit, trial: Protection) -> Section:
    plot = line_plot(
        _lines(audit, trial),
        x_label="budget: changed ratings a user, on average",
        y_label=_axis(audit),
        level=("guessing", 100 * audit.guessing),
    )
    groups = (
        f"The guard learnt from {trial.n_guard:,} users, attackers from {trial.n_attacker:,} others, and "
        f"{trial.n_test:,} more were protected and attacked. An attacker who {KNOWS} has protected his users with the "
        "very same guard and learnt from the releases. With fewer users to learn from than above, all of them are "
        "a little weaker than there."
    )
    return Section(
        title="What each budget buys",
        text=[
            f"A budget is the number of ratings that may change, on average, for each user; here: {_changes(audit)}. "
            f"{get_goal(audit.guard.goal).how} It is not told the user's own value.",
            groups,
            *remarks(audit)[:-1],
            *_notes(trial),
        ],
        parts=[
            Figure(plot, "What each attacker infers after protection, by budget. Bands: 95 % intervals."),
            budgets_table(audit, trial),
        ],
    )


def _lines(audit: Audit, trial: Protection) -> list[Line]:
    """Each attacker who does not know the guard; and, of those who know it, the strongest at each budget."""

    def line(name: str, points: list[tuple[float, Inference]]) -> Line:
        figures: list[Estimate] = [getattr(found, audit.figure) for _, found in points]
        budgets = [budget for budget, _ in points]
        return Line(name, budgets, [100 * f.value for f in figures], [100 * f.margin for f in figures])

    unaware = [
        line(name_of(attack), [(p.budget, p.found) for p in mine])
        for attack, retrained, mine in trial.lines()
        if not retrained
    ]
    knowing = {budget: [each for each in trial.at(budget) if each.retrained] for budget in trial.budgets}
    best = [(budget, strongest(found, audit.figure)) for budget, found in knowing.items() if found]
    return [line(f"strongest who {KNOWS}", best), *unaware] if best else unaware


def budgets_table(audit: Audit, trial: Protection) -> Table:
    """Attackers by budget, the strongest of all below them, and what the guard changes in the last row."""
    head = ["attacker", *("no guard" if budget == 0 else f"{budget:g}" for budget in trial.budgets)]
    rows = []
    for attack, retrained, mine in trial.lines():
        known = {point.budget: f"{getattr(point.found, audit.figure).value:.3f}" for point in mine}
        name = f"{name_of(attack)}{', ' + KNOWS if retrained else ''}"
        rows.append([name, *(known.get(budget, "") for budget in trial.budgets)])
    best = [getattr(trial.strongest(budget, audit.figure), audit.figure).value for budget in trial.budgets]
    rows.append(["the strongest of these", *(f"{value:.3f}" for value in best)])
    rows.append(["guessing", *(f"{audit.guessing:.3f}" for _ in trial.budgets)])
    rows.append(["ratings changed a user", *(f"{changes:.2f}" for changes in trial.changes)])
    what = "share of users whose value is inferred" if audit.figure == "accuracy" else "AUC"
    caption = f"{what}, by budget (ratings that may change a user, on average)"
    return Table(head, rows, numeric=range(1, len(head)), caption=caption)


def _changes(audit: Audit) -> str:
    policy = POLICIES[audit.guard.policy]
    return get_goal(audit.guard.goal).changes(policy)


def goals_tables(audit: Audit) -> list[Table]:
    """All goals side by side: the strongest attackers and the detector by budget, and what a recommender loses."""
    rows, costs = [], []
    for each in audit.goals:
        rows.append([each.goal, "does not know", *map(percent, each.aware.most(retrained=False))])
        rows.append([each.goal, KNOWS, *map(percent, each.aware.most(retrained=True))])
        rows.append([each.goal, "tells protected users apart (AUC)", *(f"{auc:.2f}" for auc in each.aware.detection)])
        lost = "–" if each.precision_lost is None else percent(each.precision_lost)
        costs.append([each.goal, f"{each.precision_changes:.1f}", lost])
    budgets = audit.goals[0].aware.unaware[0].budgets
    return [
        Table(
            ["goal", "strongest attacker who", *(f"budget {budget:g}" for budget in budgets)],
            rows,
            numeric=range(2, 2 + len(budgets)),
            caption="all goals: share of users whose value the strongest attacker infers",
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


def _notes(trial: Protection) -> list[str]:
    notes = []
    if trial.extended:
        notes.append(
            f"For {percent(trial.extended)} of all users and values the policy alone had no answer; there it was "
            "extended to changes of any kind."
        )
    if trial.unreached:
        notes.append(f"{trial.unreached:,} combinations of user and value could not be reached and are never drawn.")
    return notes


def _spread(trial: Protection) -> Section:
    spread = trial.spread
    rows = [[size, percent(share)] for size, share in spread.sizes if share > 0]
    return Section(
        title="What it does to users",
        text=[
            f"With a budget of {trial.budgets[-1]:g}, a user gets {spread.added:.2f} new ratings on average, loses "
            f"{spread.removed:.2f}, and has {spread.rated_anew:.2f} rated anew. {_told(trial)} Users differ:"
        ],
        parts=[Table(["changes made to a user", "users"], rows, numeric=(1,))],
    )


def _told(trial: Protection) -> str:
    """Whether rows that a release would add can be told from the others."""
    return "No row is added that could be told." if trial.forensics is None else told_how(trial.forensics)


def _limits() -> Section:
    return Section(title="What this does not protect against", points=LIMITS, warning=True)


def _method(audit: Audit) -> Section:
    return Section(
        title="How it was measured",
        points=[
            f"The verdict. {RULE}",
            f"Accuracy is the share of users for whom the attacker names the right one of {audit.about.m} values; "
            "balanced accuracy is the mean over the values of the recall, the share of a value's users for whom the "
            "attacker names it.",
            "AUC: of all pairs of a user with a value and one without it, the share in which the attacker is surer of "
            "the one who has it, on average over the values. Guessing gives 0.5.",
            "No attacker is tried on users that he learnt from. What can be inferred now is cross-validated; its "
            "intervals are widened as by Nadeau and Bengio (2003), since attackers learnt from one another's users, "
            "and the verdict's interval once more (Bonferroni), since the strongest of "
            f"{audit.verdict.attackers} attackers was picked. After protection, figures are means over several "
            "releases, and intervals hold for attackers as they were trained here. With two values, an attacker who "
            "is wrong more often than chance is counted as one who turns his answers round. The guard is AttriGuard "
            "(Jia and Gong, USENIX Security 2018).",
        ],
    )
