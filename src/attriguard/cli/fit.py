"""``attriguard fit``: ratings and attributes in, a guard file out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from attriguard.cli import _options as o
from attriguard.errors import ParameterError

EXAMPLE = "Example: attriguard fit ratings.csv --attributes users.csv --attribute city --output city.guard"


def fit(
    output: Annotated[Path, typer.Option(help="The guard file to write.")],
    ratings: Annotated[
        Path | None, typer.Argument(metavar="[RATINGS]", help="Ratings: a CSV or Parquet table.")
    ] = None,
    attributes: o.Attributes = None,
    attribute: o.Attribute = None,
    dataset: o.Dataset = None,
    goal: o.Goal = "mislead",
    split: o.Split = None,
    classifier: o.Classifier = "lr",
    hidden: o.Hidden = None,
    epochs: o.Epochs = None,
    search: o.Search = "margin",
    policy: o.Policy = "modify_add",
    budget: o.Budget = 4.0,
    target: o.Target = "train",
    confidence: o.Confidence = None,
    user: o.User = None,
    item: o.Item = None,
    rating: o.Rating = None,
    like: o.Like = False,
    scale: o.Scale = None,
    duplicates: o.Duplicates = "error",
    unmatched: o.Unmatched = "error",
    seed: o.Seed = None,
    as_json: o.AsJson = False,
) -> None:
    """Learn a guard from users who disclose the attribute.

    The guard file holds the classifier and the options, no user's data. Policy, budget and target can still be changed
    when protecting. The training of a network that was interrupted goes on when the same command is given again.
    """
    from attriguard.cli._shell import console, emit_json
    from attriguard.data.files import check_outputs
    from attriguard.goals import BOTH, CONCEAL, check_goal
    from attriguard.guard import AttriGuard
    from attriguard.storage import save_guard

    check_outputs(output, read=[ratings, attributes])
    if split is not None and goal != BOTH:
        raise ParameterError("--split shares the budget between two goals; use it with --goal both")
    if goal == CONCEAL:
        refuse_useless(classifier=classifier != "lr", search=search != "margin", target=target != "train",
                       confidence=confidence is not None)  # fmt: skip
    learner = o.classifier_of(classifier, hidden=hidden, epochs=epochs, seed=seed)
    data = o.load_data(
        ratings, dataset, attribute, attributes=attributes, user=user, item=item, rating=rating, like=like, scale=scale,
        duplicates=duplicates, unmatched=unmatched,
    )  # fmt: skip
    guard = AttriGuard(
        learner,
        search=search,
        policy=policy,
        target=target,
        budget=budget,
        confidence=o.confidence_of(confidence),
        scale=data.scale,
        goal=check_goal(goal),
        split=split,
        random_state=seed,
    )
    with _training("" if goal == CONCEAL else learner, data.n_users, output) as options:
        guard.fit(data.X, data.y, items=data.items, values=data.values, **options)
        save_guard(guard, output, metadata={"attribute": data.attribute})
    result = {
        "guard": str(output),
        "attribute": data.attribute,
        "goal": goal,
        "values": len(guard.values_),
        "users": int(guard.counts_.sum()),
        "items": data.n_items,
        "ratings": data.X.nnz,
    }
    if as_json:
        emit_json(result)
        return
    console().print(
        f"learnt {data.attribute!r} ({result['values']} values) from {result['users']:,} users, "
        f"{result['items']:,} items and {result['ratings']:,} ratings\nwrote {output}",
        soft_wrap=True,
    )


def refuse_useless(**given: bool) -> None:
    """Options of misleading, for a guard that only conceals."""
    useless = [f"--{name}" for name, is_given in given.items() if is_given]
    if useless:
        raise ParameterError(
            f"{', '.join(useless)} {'is' if len(useless) == 1 else 'are'} for guards that mislead; leave out with "
            "--goal conceal, or use --goal both"
        )


@contextmanager
def _training(learner: Any, n_users: int, output: Path) -> Iterator[dict[str, Any]]:
    """For a network: a bar, and a checkpoint beside the guard that is removed when the guard is there."""
    from attriguard.cli._shell import note, progress

    if isinstance(learner, str):
        yield {}
        return
    checkpoint = output.with_name(f"{output.name}.training")
    try:
        with progress(1) as advance:
            yield {"checkpoint": checkpoint, "progress": advance}
    except KeyboardInterrupt:
        if checkpoint.exists():
            note(f"attriguard: {checkpoint} holds the last whole epoch: give the same command again to go on from it")
        raise
    checkpoint.unlink(missing_ok=True)
