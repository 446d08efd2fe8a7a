"""``attriguard audit``: ratings and attributes in, a page about what they give away out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attriguard.cli import _options as o
from attriguard.errors import ParameterError

EXAMPLE = "Example: attriguard audit ratings.csv --attributes users.csv --attribute city --output city.html"


def audit(
    ratings: Annotated[
        Path | None, typer.Argument(metavar="[RATINGS]", help="Ratings: a CSV or Parquet table.")
    ] = None,
    attributes: o.Attributes = None,
    attribute: o.Attribute = None,
    dataset: o.Dataset = None,
    output: Annotated[Path, typer.Option(help="The HTML page to write.")] = Path("attriguard-audit.html"),
    attacks: Annotated[str, typer.Option(help="The attackers, with commas between.")] = "BA-A,LR-A,RF-A",
    knowing: Annotated[
        str, typer.Option(help="The attacker who is also shown as one who knows the guard and retrains; '' for none.")
    ] = "MLP-A",
    budgets: Annotated[str, typer.Option(help="The budgets, with commas between.")] = "0.5,1,2,3,4,6,8",
    goal: o.Goal = "mislead",
    all_goals: Annotated[
        bool, typer.Option("--all-goals", help="Also show all goals side by side; takes some minutes more.")
    ] = False,
    classifier: o.Classifier = "lr",
    search: o.Search = "margin",
    policy: o.Policy = "modify_add",
    target: o.Target = "train",
    confidence: o.Confidence = None,
    seed: o.Seed = None,
    user: o.User = None,
    item: o.Item = None,
    rating: o.Rating = None,
    like: o.Like = False,
    scale: o.Scale = None,
    duplicates: o.Duplicates = "error",
    unmatched: o.Unmatched = "error",
    as_json: o.AsJson = False,
) -> None:
    """How well could an attacker infer the attribute, which items give it away, and what does each budget buy?

    Writes one HTML page that needs no network and can be sent around: it shows no single user's attribute.
    """
    from attriguard.attacks import lineup
    from attriguard.cli._audit import present, run_audit
    from attriguard.data.files import check_outputs
    from attriguard.evaluation.accuracy import check_budgets
    from attriguard.goals import check_goal
    from attriguard.guard import AttriGuard

    check_outputs(output, read=[ratings, attributes])
    ladder = check_budgets(numbers_of(budgets))
    if all_goals and not ladder[-1]:
        raise ParameterError("--all-goals needs a budget above 0")
    names = attacks.split(",")
    if "AT-A" in (name.strip() for name in (*names, knowing)):
        raise ParameterError("AT-A adapts to one guard; attriguard evaluate shows it")
    if all_goals and not knowing:
        raise ParameterError("--all-goals shows an attacker who knows and retrains: name one with --knowing")
    attackers = lineup(names, random_state=seed)
    knows = lineup([knowing], random_state=seed)[0] if knowing else None
    data = o.load_data(
        ratings, dataset, attribute, attributes=attributes, user=user, item=item, rating=rating, like=like, scale=scale,
        duplicates=duplicates, unmatched=unmatched,
    )  # fmt: skip
    guard = AttriGuard(
        classifier,
        search=search,
        policy=policy,
        target=target,
        confidence=o.confidence_of(confidence),
        scale=data.scale,
        goal=check_goal(goal),
        budget=ladder[-1],
        random_state=seed,
    )
    result = run_audit(
        data, guard=guard, attacks=attackers, budgets=ladder, knowing=knows, all_goals=all_goals, seed=seed
    )
    source = dataset or (ratings.name if ratings else "")
    present(result, output, title=f"What ratings give away about “{data.attribute}”", source=source, as_json=as_json)


def numbers_of(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(f"budgets must be numbers with commas between, such as 1,2,4, got {text!r}") from None
