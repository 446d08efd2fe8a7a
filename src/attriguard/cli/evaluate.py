"""``attriguard evaluate``: attacks against budgets, before and after, as a table, JSON and a plot."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attriguard.cli import _options as o
from attriguard.errors import ParameterError

if TYPE_CHECKING:
    from attriguard.attacks.base import Attack
    from attriguard.data.public_data import PublicData
    from attriguard.evaluation.accuracy import Curve
    from attriguard.evaluation.aware import Aware
    from attriguard.evaluation.cache import Cache
    from attriguard.report.page import Shown

EXAMPLE = "Example: attriguard evaluate --dataset google-play --attacks all --hidden 500 --work runs --plot curves.svg"
AWARE = "Attackers who know the guard"
RIVALS = "Defenses side by side"


def evaluate(
    ratings: Annotated[
        Path | None, typer.Argument(metavar="[RATINGS]", help="Ratings: a CSV or Parquet table.")
    ] = None,
    attributes: o.Attributes = None,
    attribute: o.Attribute = None,
    dataset: o.Dataset = None,
    attacks: Annotated[str, typer.Option(help="The attackers, with commas between, or all.")] = "all",
    budgets: Annotated[str, typer.Option(help="The budgets, with commas between.")] = "0.5,1,2,3,4,5,6,8",
    hidden: Annotated[
        int | None, typer.Option(help="Hidden units of the attackers' networks; as in the paper otherwise: 30,000.")
    ] = None,
    goal: o.Goal = "mislead",
    classifier: o.Classifier = "lr",
    guard_hidden: Annotated[int | None, typer.Option(help="Hidden units of the guard's network (nn).")] = None,
    search: o.Search = "margin",
    policy: o.Policy = "modify_add",
    target: o.Target = "train",
    retrained: Annotated[
        str, typer.Option(help="Attackers to be shown as ones who know and retrain.", rich_help_panel=AWARE)
    ] = "",
    inversion: Annotated[
        str, typer.Option(help="Attackers to be shown as ones who know and undo the guard.", rich_help_panel=AWARE)
    ] = "",
    detector: Annotated[
        bool, typer.Option("--detector", help="Also how well protected users are told apart.", rich_help_panel=AWARE)
    ] = False,
    defenses: Annotated[
        str,
        typer.Option(
            help="Compare these defenses, with commas between, or all; see docs/defenses.md.", rich_help_panel=RIVALS
        ),
    ] = "",
    strengths: Annotated[
        list[str] | None,
        typer.Option(
            help="A defense's own strengths, such as BlurMe=1,10,100; again for another.", rich_help_panel=RIVALS
        ),
    ] = None,
    reach: Annotated[
        str,
        typer.Option(
            help="Show what each defense needs to bring the attackers down to these shares.", rich_help_panel=RIVALS
        ),
    ] = "0.35,0.3,0.25,0.2,0.15,0.1",
    recommender: Annotated[
        str | None,
        typer.Option(
            help="Also what they cost a recommender where the first attacker infers equally little: SVD, ALS, PureSVD.",
            rich_help_panel=RIVALS,
        ),
    ] = None,
    at: Annotated[
        float | None,
        typer.Option(help="That accuracy; the lowest that all of them reach otherwise.", rich_help_panel=RIVALS),
    ] = None,
    holdouts: Annotated[
        int,
        typer.Option(help="How often the recommender's test items are drawn anew.", min=1, rich_help_panel=RIVALS),
    ] = 3,
    draws: Annotated[
        int,
        typer.Option(
            help="How often an attacker who retrains protects each user, and a defense that draws is drawn.",
            rich_help_panel=AWARE,
        ),
    ] = 4,
    output: Annotated[Path | None, typer.Option(help="Also write the figures to this JSON file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw them: a file that ends in .svg or .html.")] = None,
    work: Annotated[
        Path | None, typer.Option(help="A folder for what was learnt, to go on from; the user's cache otherwise.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same figures.")] = 0,
    user: o.User = None,
    item: o.Item = None,
    rating: o.Rating = None,
    like: o.Like = False,
    scale: o.Scale = None,
    duplicates: o.Duplicates = "error",
    unmatched: o.Unmatched = "error",
    as_json: o.AsJson = False,
) -> None:
    """How much do attackers infer before and after protection, for each budget?

    Attackers and guard learn from the same training users, as in the paper. What was predicted is kept, so that the
    same command again takes seconds and an interrupted one goes on. Those who know the guard (--retrained,
    --inversion, --detector) are measured on three groups: the guard's users, the attacker's users, the test users.
    """
    from attriguard.attacks import lineup, names
    from attriguard.cli.audit import numbers_of
    from attriguard.data.files import check_outputs
    from attriguard.evaluation.accuracy import check_budgets
    from attriguard.goals import check_goal
    from attriguard.guard import AttriGuard

    if plot is not None and plot.suffix not in (".svg", ".html"):
        raise ParameterError(f"--plot must name a file that ends in .svg or .html, got {plot.name}")
    if defenses.strip() and (retrained or inversion or detector):
        raise ParameterError(
            "--retrained, --inversion and --detector measure one guard; leave them out with --defenses"
        )
    if not defenses.strip() and (strengths or recommender is not None or at is not None):
        raise ParameterError("--strengths, --recommender and --at compare defenses; name those with --defenses")
    if at is not None and recommender is None:
        raise ParameterError("--at says where a recommender is compared; name it with --recommender")
    if not attacks.strip():
        raise ParameterError("--attacks names the attackers, or all of them: all")
    ladder = check_budgets(numbers_of(budgets))
    check_outputs(output, plot, read=[ratings, attributes])
    named = [] if attacks.strip() == "all" else names_of(attacks)
    retrain, undo = (lineup(names_of(text), random_state=seed, hidden=hidden) for text in (retrained, inversion))
    data = o.load_data(
        ratings, dataset, attribute, attributes=attributes, user=user, item=item, rating=rating, like=like, scale=scale,
        duplicates=duplicates, unmatched=unmatched,
    )  # fmt: skip
    # The attackers do not know the guard's network, so the seeds differ.
    learner = o.classifier_of(classifier, hidden=guard_hidden, epochs=None, seed=seed + 1)
    guard = AttriGuard(
        learner, search=search, policy=policy, target=target, scale=data.scale, budget=ladder[-1],
        goal=check_goal(goal), random_state=seed,
    )  # fmt: skip
    store = open_cache(work)
    source = dataset or (ratings.name if ratings else "")
    settings = {
        "command": command_line(),
        "seed": seed,
        "guard": {"goal": goal, "classifier": classifier, "search": search, "policy": policy, "target": target},
        "hidden": hidden,
    }
    if defenses.strip():
        from attriguard.cli._compare import run_comparison

        shown = run_comparison(
            data, guard, defenses, named or ("NN-A", "LR-A"), ladder, hidden=hidden,
            ladders=strengths or (), reach=reach, recommender=recommender, at=at, holdouts=holdouts, draws=draws,
            seed=seed, store=store, source=source, settings=settings,
        )  # fmt: skip
    else:
        curves, sizes = run_paper(data, guard, named or names(), ladder, hidden=hidden, seed=seed, store=store)
        knowing = None
        if detector or retrain or undo:
            knowing = run_aware(
                data, guard, retrain, undo, ladder, seed=seed, draws=draws, detector=detector, store=store
            )
        from attriguard.report.evaluation import Evaluation, shown_of

        shown = shown_of(
            Evaluation(
                source=source,
                attribute=data.attribute,
                m=data.m,
                budgets=ladder,
                curves=tuple(curves),
                aware=knowing,
                settings={**settings, **sizes},
            )
        )
    present(shown, output=output, plot=plot, as_json=as_json)


def command_line() -> str:
    """As it was typed; from another program than the console script, only the command's name."""
    import shlex

    given = sys.argv[1:]
    return shlex.join(["attriguard", *given]) if given[:1] == ["evaluate"] else "attriguard evaluate"


def names_of(text: str) -> list[str]:
    """Names with commas between; nothing for nothing."""
    from attriguard._checks import check_choice
    from attriguard.attacks import ATTACKS

    return [check_choice(name.strip(), ATTACKS, name="attack") for name in text.split(",") if name.strip()]


def open_cache(work: Path | None) -> Cache:
    from attriguard.data.named.datasets import cache_folder
    from attriguard.evaluation.cache import Cache

    return Cache(cache_folder() / "evaluate") if work is None else Cache(work, keep_networks=True)


def run_paper(
    data: PublicData,
    guard: Any,
    wanted: list[str],
    ladder: tuple[float, ...],
    *,
    hidden: int | None,
    seed: int,
    store: Cache,
) -> tuple[list[Curve], dict[str, int]]:
    """As in the paper: attackers and guard learn from the same training users."""
    from attriguard.attacks import lineup
    from attriguard.cli._shell import progress
    from attriguard.evaluation.audit import split_for_audit
    from attriguard.evaluation.engine import evaluate as run
    from attriguard.evaluation.measure import Measure

    train, test = split_for_audit(data, seed)
    with progress(1) as advance:
        advance("the guard learns", 0)
        guard.fit(train.X, train.y)
        attacks = lineup(wanted, random_state=seed, hidden=hidden, guard=guard)
        plan = guard.plan(test.X)
        curves = run(
            plan, attacks, test.y, ladder, train=(train.X, train.y), measure=Measure(seed, cache=store),
            progress=lambda what, _: advance(what, 0),
        )  # fmt: skip
    return curves, {"training_users": train.n_users, "test_users": test.n_users}


def run_aware(
    data: PublicData,
    guard: Any,
    retrain: Sequence[Attack],
    undo: Sequence[Attack],
    ladder: tuple[float, ...],
    *,
    seed: int,
    draws: int,
    detector: bool,
    store: Cache,
) -> Aware:
    """Three groups that share nobody: the guard's users, the attacker's users, the test users."""
    from sklearn.base import clone

    from attriguard.cli._shell import progress
    from attriguard.evaluation.audit import split_for_audit
    from attriguard.evaluation.aware import evaluate_aware
    from attriguard.evaluation.measure import Measure
    from attriguard.evaluation.protocol import halves

    groups = halves(*split_for_audit(data, seed), seed)
    with progress(1) as advance:
        return evaluate_aware(
            groups, clone(guard), retrain, ladder, inversion=undo, detector=detector,
            measure=Measure(seed, draws, store), progress=lambda what, _: advance(what, 0),
        )  # fmt: skip


def present(shown: Shown, *, output: Path | None, plot: Path | None, as_json: bool) -> None:
    from attriguard.cli._shell import console, emit_json, print_table, write_json
    from attriguard.report.page import write_page

    if output is not None:
        write_json(shown.record, output)
    if plot is not None and plot.suffix == ".html":
        write_page(shown.page(), plot)
    elif plot is not None:
        from attriguard.data.files import written_beside

        with written_beside(plot) as file:
            file.write(shown.drawing().encode())
    if as_json:
        emit_json(shown.record)
        return
    for table in shown.tables:
        print_table(table)
    for remark in shown.remarks:
        console().print(remark, soft_wrap=True)
