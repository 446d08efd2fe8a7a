"""``attriguard fit``: ratings and attributes in, a guard file out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attriguard.cli import _options as o

EXAMPLE = "Example: attriguard fit ratings.csv --attributes users.csv --attribute city --output city.guard"


def fit(
    output: Annotated[Path, typer.Option(help="The guard file to write.")],
    ratings: Annotated[
        Path | None, typer.Argument(metavar="[RATINGS]", help="Ratings: a CSV or Parquet table.")
    ] = None,
    attributes: o.Attributes = None,
    attribute: o.Attribute = None,
    dataset: o.Dataset = None,
    classifier: o.Classifier = "lr",
    search: o.Search = "margin",
    policy: o.Policy = "modify_add",
    budget: o.Budget = 4.0,
    target: o.Target = "train",
    confidence: o.Confidence = "0",
    user: o.User = None,
    item: o.Item = None,
    rating: o.Rating = None,
    scale: o.Scale = None,
    duplicates: o.Duplicates = "error",
    unmatched: o.Unmatched = "error",
    as_json: o.AsJson = False,
) -> None:
    """Learn a guard from users who disclose the attribute.

    The guard file holds the classifier and the options, no user's data. Policy, budget and target can still be changed
    when protecting.
    """
    from attriguard.cli._shell import console, emit_json
    from attriguard.guard import AttriGuard
    from attriguard.storage import save_guard

    data = o.load_data(
        ratings,
        dataset,
        attribute,
        {
            "attributes": attributes,
            "user": user,
            "item": item,
            "rating": rating,
            "scale": o.scale_of(scale),
            "duplicates": duplicates,
            "unmatched": unmatched,
        },
    )
    guard = AttriGuard(
        classifier,
        search=search,
        policy=policy,
        target=target,
        budget=budget,
        confidence=o.confidence_of(confidence),
        scale=data.scale,
    ).fit(data.X, data.y, items=data.items, values=data.values)
    save_guard(guard, output, metadata={"attribute": data.attribute})
    result = {
        "guard": str(output),
        "attribute": data.attribute,
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
