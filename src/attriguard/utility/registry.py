"""The recommenders by name; a new one is one file and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attriguard._registry import Registry

if TYPE_CHECKING:
    from attriguard.utility.recommenders import Recommender

RECOMMENDERS: Registry[Recommender] = Registry(
    "recommender",
    "attriguard.utility.recommenders:Recommender",
    {
        "SVD": "attriguard.utility.surprise_svd:SurpriseSVD",
        "ALS": "attriguard.utility.implicit_als:ImplicitALS",
        "PureSVD": "attriguard.utility.recommenders:PureSVD",
    },
)


def get(name: str, **options: Any) -> Recommender:
    """A new, untrained recommender.

    Parameters
    ----------
    name
        "SVD" (Surprise's, the paper's), "ALS" (implicit's), "PureSVD" (needs no extra), or "module:Class".
    **options
        The recommender's parameters; one that it does not have is refused.
    """
    return RECOMMENDERS.make(name, **options)


def names() -> list[str]:
    """The names that `get` knows."""
    return list(RECOMMENDERS)
