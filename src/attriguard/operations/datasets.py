"""What there is to know about named data sets, and fetching them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attriguard.data.named.datasets import fetch_dataset as fetch
from attriguard.data.named.datasets import find_dataset, load_dataset, locate, missing_files, verify_dataset
from attriguard.data.named.registry import DATASETS, Dataset, get_dataset
from attriguard.data.public_data import PublicData

EMBEDDED = "embedded"


def list_datasets() -> list[dict[str, Any]]:
    """Every named data set: its size, its attributes, and where its files were found."""
    return [_entry(dataset) for dataset in DATASETS.values()]


def describe_dataset(
    name: str,
    path: str | os.PathLike[str] | None = None,
    *,
    attribute: Sequence[str] | None = None,
    verify: bool = False,
) -> dict[str, Any]:
    """Sizes, values, licence, citation and files of one data set. Downloads nothing.

    ``verify`` compares the files with the published ones, by their hashes.
    """
    dataset = get_dataset(name)
    folder = None if dataset.embedded else find_dataset(name, path)
    facts = _entry(dataset) | {"found": EMBEDDED if dataset.embedded else folder, "missing": []}
    facts |= {key: getattr(dataset, key) for key in ("description", "licence", "citation")}
    facts["files"] = dataset.file_names
    if dataset.embedded or folder is not None:
        facts |= _contents(load_dataset(name, path, attribute=attribute, download=False, verify=False))
    if verify:
        facts["as_published"] = verify_dataset(name, path)
    return facts


@dataclass(frozen=True)
class Fetched:
    """Where a data set is, and whether it had to be downloaded."""

    folder: Path | None  # None: it is embedded
    downloaded: bool
    files: tuple[str, ...]


def fetch_dataset(name: str, *, notify: Callable[[str], None] | None = None) -> Fetched:
    """Make sure that a data set is on this machine; ``notify`` gets the licence before anything is downloaded."""
    dataset = get_dataset(name)
    if dataset.embedded:
        return Fetched(None, False, dataset.file_names)
    asked: list[str] = []  # the licence is shown only before a download

    def show_licence(terms: str) -> None:
        if notify is not None:
            notify(terms)
        asked.append(terms)

    return Fetched(fetch(name, notify=show_licence, progress=True), bool(asked), dataset.file_names)


def _entry(dataset: Dataset) -> dict[str, Any]:
    """What the table knows of a data set, and where its files are."""
    folder = None if dataset.embedded else locate(dataset.name)
    return {
        "name": dataset.name,
        "title": dataset.title,
        "users": dataset.users,
        "items": dataset.items,
        "attributes": dict(dataset.attributes),
        "found": EMBEDDED if dataset.embedded else folder,
        "missing": [] if folder is None else missing_files(dataset, folder),
    }


def _contents(data: PublicData) -> dict[str, Any]:
    """What is inside a loaded data set."""
    per_user = np.diff(data.X.indptr)
    counts = np.bincount(data.y[data.disclosed], minlength=data.m)
    shares = counts / max(int(counts.sum()), 1)
    order = np.argsort(-shares, kind="stable")
    mask = data.test_mask
    return {
        "users": data.n_users,
        "items": data.n_items,
        "ratings": int(data.X.nnz),
        "ratings_per_user": {
            "min": int(per_user.min()),
            "median": float(np.median(per_user)),
            "mean": float(per_user.mean()),
            "max": int(per_user.max()),
        },
        "scale": str(data.scale),
        "split": None if mask is None else {"train": int((~mask).sum()), "test": int(mask.sum())},
        "attribute": data.attribute,
        "undisclosed": int((~data.disclosed).sum()),
        "values": {data.values[code]: float(shares[code]) for code in order},
    }
