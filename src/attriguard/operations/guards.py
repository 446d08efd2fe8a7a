"""``ag.describe_guard``: what a guard file holds; ``ag.share_guard``: the same guard without what is private."""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attriguard.data.scale import check_scale
from attriguard.errors import ParameterError
from attriguard.goals import GOALS
from attriguard.guard import AttriGuard, load_guard
from attriguard.page.pack import PUBLIC, measured_words, rounded, shares
from attriguard.report.origin import made_at

# Of the metadata, what a guard needs to read and draw as it did.
NEEDED = ("attribute", "rated")
# Marks of a guard whose weights may give away the users it protects.
OWN_USERS = ("informed", "own_users")


@dataclass(frozen=True)
class GuardCard:
    """What there is to say about a guard."""

    file: str
    attribute: str
    values: tuple[str, ...]
    shares: tuple[float, ...]  # how frequent each value is
    users: int
    users_rounded: bool
    remembered_users: int  # whose salted hashes the file holds
    items: int
    goals: tuple[str, ...]
    classifier: str
    policy: str
    budget: float
    scale: str
    metadata: Mapping[str, Any]  # data, date, licence, measured …
    sha256: str  # of the file

    @property
    def facts(self) -> dict[str, str]:
        """A line each, for people."""
        known = {name: str(self.metadata[name]) for name in ("data", "date", "licence") if name in self.metadata}
        measured = self.metadata.get("measured")
        values = ", ".join(f"{name} {share:.1%}" for name, share in zip(self.values, self.shares, strict=True))
        return {
            "attribute": self.attribute or "–",
            "values": f"{len(self.values)}: {values}",
            "items": f"{self.items:,}, rated {self.scale}",
            "users": f"{'about ' * self.users_rounded}{self.users:,}",
            "remembers": f"{self.remembered_users:,} users, as salted hashes" if self.remembered_users else "no users",
            "serves": ", ".join(self.goals),
            "learnt": f"{self.classifier}, policy {self.policy}, budget {self.budget:g}",
            "measured": measured_words(measured) if isinstance(measured, Mapping) else str(measured or "nothing"),
            **known,
            "sha256": self.sha256,
        }

    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        return {**vars(self), "metadata": dict(self.metadata)}


def describe_guard(path: str | os.PathLike[str], *, key: bytes | str | os.PathLike[str] | None = None) -> GuardCard:
    """The card of a guard file: what it is about, what it was learnt from, what was measured, and its SHA-256.

    With a ``key``, a guard that was not signed with it is refused (see `load_guard`).
    """
    guard = load_guard(path, key=key)
    with Path(path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    told = guard.metadata_.get("users")
    return GuardCard(
        file=str(path),
        attribute=str(guard.metadata_.get("attribute", "")),
        values=guard.values_,
        shares=tuple((guard.counts_ / guard.counts_.sum()).tolist()),
        users=int(guard.counts_.sum() if told is None else told),
        users_rounded=told is not None,
        remembered_users=0 if guard.seen_ is None else int(guard.seen_.marks.size),
        items=guard.n_features_in_,
        goals=tuple(name for name in GOALS if set(GOALS[name].needs) <= set(guard.learnt_.models)),
        classifier=guard.classifier if isinstance(guard.classifier, str) else type(guard.classifier).__name__,
        policy=guard.policy,
        budget=guard.budget,
        scale="as entries in [0, 1]" if guard.scale is None else str(check_scale(guard.scale)),
        metadata={name: fact for name, fact in guard.metadata_.items() if name not in NEEDED},
        sha256=digest,
    )


def share_guard(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    data: str | None = None,
    licence: str | None = None,
    key: bytes | str | os.PathLike[str] | None = None,
) -> GuardCard:
    """Write a guard that others may have: without the users it learnt from, exact counts, and private metadata.

    Parameters
    ----------
    path, output
        The guard file, and the one to write.
    data, licence
        What it was learnt from, and under which terms others may use it, in words of your own.
    key
        A secret to sign the new file with.

    Returns
    -------
    GuardCard
        The card of the new file.
    """
    guard = load_guard(path)
    marked = [name for name in OWN_USERS if guard.metadata_.get(name)]
    if marked:
        raise ParameterError(
            f"{path} has learnt from the very users it protects, and its weights may give them away; share one that "
            "learnt from users who disclose their value"
        )
    said = {name: text for name, text in (("data", data), ("licence", licence)) if text}
    _public(guard, said).save(output, key=key)
    return describe_guard(output)


def _public(guard: AttriGuard, said: Mapping[str, str]) -> AttriGuard:
    shared, metadata = copy.copy(guard), guard.metadata_
    shared.seen_ = shared.habits_ = None  # of an item that few have rated, habits tell who rated it how
    shared.learnt_ = replace(guard.learnt_, counts=shares(guard.counts_))
    told = {"users": rounded(int(guard.counts_.sum())), "date": made_at()[:10]}
    kept = {name: metadata[name] for name in (*NEEDED, *PUBLIC) if name in metadata}
    shared.metadata_ = {**told, **kept, **said}
    return shared
