"""Defenses against attribute inference: AttriGuard's rivals, and AttriGuard behind the same base class.

``get("BlurMe")`` gives a defense by its name, ``get("module:Class")`` one from elsewhere. Installed packages add
defenses through the entry-point group "attriguard.defenses". A new defense of this package is one class in one file,
and one line here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from attriguard._lazy import lazy_exports
from attriguard._registry import Registry

if TYPE_CHECKING:
    from attriguard.defenses.base import Defense as Defense
    from attriguard.defenses.blurme import BlurMe as BlurMe
    from attriguard.defenses.chisquare import ChiSquare as ChiSquare
    from attriguard.defenses.game import Game as Game
    from attriguard.defenses.game import make_game as make_game
    from attriguard.defenses.game_domain import empirical_joint as empirical_joint
    from attriguard.defenses.game_domain import grid_points as grid_points
    from attriguard.defenses.game_domain import plan_channel as plan_channel
    from attriguard.defenses.game_domain import separating_items as separating_items
    from attriguard.defenses.guarded import Guarded as Guarded
    from attriguard.defenses.ldp import SuccinctHistogram as SuccinctHistogram
    from attriguard.defenses.optimum import GameTheoretic as GameTheoretic
    from attriguard.defenses.perblur import PerBlur as PerBlur
    from attriguard.defenses.qpm import QPM as QPM
    from attriguard.defenses.references import RandomAdditions as RandomAdditions
    from attriguard.defenses.references import RandomDeletions as RandomDeletions
    from attriguard.defenses.references import TellingDeletions as TellingDeletions
    from attriguard.defenses.stereotypes import SBO as SBO

_PLACES = {
    "AttriGuard": "attriguard.defenses.guarded:Guarded",
    "BlurMe": "attriguard.defenses.blurme:BlurMe",
    "ChiSquare": "attriguard.defenses.chisquare:ChiSquare",
    "PerBlur": "attriguard.defenses.perblur:PerBlur",
    "SBO": "attriguard.defenses.stereotypes:SBO",
    "QPM": "attriguard.defenses.qpm:QPM",
    "LDP-SH": "attriguard.defenses.ldp:SuccinctHistogram",
    "random-additions": "attriguard.defenses.references:RandomAdditions",
    "random-deletions": "attriguard.defenses.references:RandomDeletions",
    "telling-deletions": "attriguard.defenses.references:TellingDeletions",
    "game-theoretic": "attriguard.defenses.optimum:GameTheoretic",
}
_BASE = "attriguard.defenses.base:Defense"
# The appendix's game, for a few items: the yardstick of "game-theoretic", and of any other mechanism.
_GAME = (
    "attriguard.defenses.game:Game",
    "attriguard.defenses.game:make_game",
    "attriguard.defenses.game_domain:empirical_joint",
    "attriguard.defenses.game_domain:grid_points",
    "attriguard.defenses.game_domain:plan_channel",
    "attriguard.defenses.game_domain:separating_items",
)
_EXPORTS = {place.partition(":")[2]: place.removeprefix(f"{__name__}.") for place in (_BASE, *_GAME, *_PLACES.values())}

DEFENSES: Registry[Defense] = Registry("defense", _BASE, _PLACES, group="attriguard.defenses")


def get(name: str, **options: Any) -> Defense:
    """A new, unfitted defense.

    Parameters
    ----------
    name
        A name of the registry ("BlurMe"), or "module:Class".
    **options
        Options of the defense's constructor.
    """
    return DEFENSES.make(name, **options)


def class_of(name: str) -> type[Defense]:
    """The class of a defense, which says what the defense is and needs."""
    return DEFENSES[name]


def names() -> list[str]:
    """The names of the defenses that take data of any size, those of installed packages included."""
    return [name for name in DEFENSES if not class_of(name).few_items_only]


def lineup(wanted: Iterable[str], **options: Any) -> list[Defense]:
    """Several new defenses by name; each takes those of the options (scale, random_state …) that it knows.

    An option that is None counts as not given. A defense's ``own_options`` keep their defaults.
    """
    return DEFENSES.lineup(wanted, **options)


__all__ = [*_EXPORTS, "DEFENSES", "class_of", "get", "lineup", "names"]
__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS, "DEFENSES", "class_of", "get", "lineup", "names")
