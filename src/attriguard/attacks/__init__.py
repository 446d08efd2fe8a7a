"""Attribute inference attacks: what an attacker can learn from what users publish.

``get("LR-A")`` gives an attack by its name in the paper, ``get("module:Class")`` one from elsewhere, and
``get("retrained(MLP-A)", guard=guard)`` one that is made from another. Installed packages add attacks through the
entry-point group "attriguard.attacks". A new attack of this package is one class in one file, and one line here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from attriguard._lazy import lazy_exports
from attriguard._registry import Registry, options_of
from attriguard.errors import ParameterError

if TYPE_CHECKING:
    from attriguard.attacks.absence import RemovalInversion as RemovalInversion
    from attriguard.attacks.adversarial import AdversarialTraining as AdversarialTraining
    from attriguard.attacks.base import Attack as Attack
    from attriguard.attacks.baseline import Baseline as Baseline
    from attriguard.attacks.bayes import Bayes as Bayes
    from attriguard.attacks.boosting import Boosting as Boosting
    from attriguard.attacks.detector import Detector as Detector
    from attriguard.attacks.detector import DetectThenAttack as DetectThenAttack
    from attriguard.attacks.distillation import Distillation as Distillation
    from attriguard.attacks.forest import Forest as Forest
    from attriguard.attacks.inversion import MechanismInversion as MechanismInversion
    from attriguard.attacks.kept import Keeping as Keeping
    from attriguard.attacks.kept import OnAverage as OnAverage
    from attriguard.attacks.kept import OnDifferences as OnDifferences
    from attriguard.attacks.kept import OnHistory as OnHistory
    from attriguard.attacks.kept import OnShares as OnShares
    from attriguard.attacks.kept import OnTurnover as OnTurnover
    from attriguard.attacks.kept import OnUnion as OnUnion
    from attriguard.attacks.large import LargeNetwork as LargeNetwork
    from attriguard.attacks.logistic import Logistic as Logistic
    from attriguard.attacks.lowrank import LowRank as LowRank
    from attriguard.attacks.mlp import SmallNetwork as SmallNetwork
    from attriguard.attacks.network import Network as Network
    from attriguard.attacks.ownguard import OwnGuard as OwnGuard
    from attriguard.attacks.region import RegionBased as RegionBased
    from attriguard.attacks.retrained import Retrained as Retrained
    from attriguard.attacks.selftrained import SelfTrained as SelfTrained
    from attriguard.attacks.sets import DeepSet as DeepSet

_PLACES = {
    "BA-A": "attriguard.attacks.baseline:Baseline",
    "LR-A": "attriguard.attacks.logistic:Logistic",
    "RF-A": "attriguard.attacks.forest:Forest",
    "NN-A": "attriguard.attacks.network:Network",
    "AT-A": "attriguard.attacks.adversarial:AdversarialTraining",
    "DD-A": "attriguard.attacks.distillation:Distillation",
    "RC-A": "attriguard.attacks.region:RegionBased",
    "LRA-A": "attriguard.attacks.lowrank:LowRank",
    "MLP-A": "attriguard.attacks.mlp:SmallNetwork",
    "LNN-A": "attriguard.attacks.large:LargeNetwork",
    "DS-A": "attriguard.attacks.sets:DeepSet",
    "GBM-A": "attriguard.attacks.boosting:Boosting",
    "NB-A": "attriguard.attacks.bayes:Bayes",
}
# Ways to make an attack from another one: "retrained(MLP-A)", and "retrained(self-trained(MLP-A))".
_WAYS = {
    "retrained": "attriguard.attacks.retrained:Retrained",
    "own-guard": "attriguard.attacks.ownguard:OwnGuard",
    "self-trained": "attriguard.attacks.selftrained:SelfTrained",
    "mechanism-inversion": "attriguard.attacks.inversion:MechanismInversion",
    "removal-inversion": "attriguard.attacks.absence:RemovalInversion",
}
# Attackers who keep every release: their rows are histories, so no table of ratings alone can be given to them.
_KEEPING = {
    "UNION-A": "attriguard.attacks.kept:OnUnion",
    "DIFF-A": "attriguard.attacks.kept:OnDifferences",
    "TURN-A": "attriguard.attacks.kept:OnTurnover",
    "HIST-A": "attriguard.attacks.kept:OnHistory",
    "SHARE-A": "attriguard.attacks.kept:OnShares",
    "MEAN-A": "attriguard.attacks.kept:OnAverage",
}
# Classes without a name in a registry.
_MORE = (
    "attriguard.attacks.base:Attack",
    "attriguard.attacks.kept:Keeping",
    "attriguard.attacks.detector:Detector",
    "attriguard.attacks.detector:DetectThenAttack",
)
_ALL = (*_MORE, *_WAYS.values(), *_KEEPING.values(), *_PLACES.values())
_EXPORTS = {place.partition(":")[2]: place.removeprefix(f"{__name__}.") for place in _ALL}

ATTACKS: Registry[Attack] = Registry("attack", "attriguard.attacks.base:Attack", _PLACES, group="attriguard.attacks")
WAYS: Registry[Attack] = Registry("way to attack", "attriguard.attacks.base:Attack", _WAYS)
KEEPING: Registry[Keeping] = Registry("attack on histories", "attriguard.attacks.kept:Keeping", _KEEPING)


def get(name: str, **options: Any) -> Attack:
    """A new, untrained attack.

    Parameters
    ----------
    name
        A name of the registry ("LR-A"; "UNION-A" and the others who keep every release), "module:Class", or a way with
        another attack in parentheses ("retrained(MLP-A)").
    **options
        Options of the attack's constructor. Of an attack that is made from another, each takes the options that it
        knows, the outer one first; all take ``random_state``.
    """
    way, inner = taken_apart(name)
    if way is None:
        return KEEPING.make(name, **options) if name in KEEPING else ATTACKS.make(name, **options)
    own = {option: value for option, value in options.items() if option in options_of(WAYS[way])}
    left = {option: value for option, value in options.items() if option not in own}
    if "random_state" in own and _takes_seed(inner):
        left["random_state"] = own["random_state"]
    return WAYS.make(way, base=get(inner, **left), **own)


def _takes_seed(name: str) -> bool:
    """Whether the attack, or one that it is made from, has a seed."""
    way, inner = taken_apart(name)
    return "random_state" in options_of(class_of(name)) or (way is not None and _takes_seed(inner))


def class_of(name: str) -> type[Attack]:
    """The class of an attack, which says what the attack is and needs; of "retrained(MLP-A)" it is the way's."""
    way, _ = taken_apart(name)
    return ATTACKS[name] if way is None else WAYS[way]


def taken_apart(name: str) -> tuple[str | None, str]:
    """The way and the attack it is made from: "retrained(MLP-A)" is ("retrained", "MLP-A"), "MLP-A" (None, "MLP-A")."""
    way, opened, inner = name.strip().partition("(") if isinstance(name, str) else ("", "", "")
    if not opened:
        return None, name
    if not inner.endswith(")"):
        raise ParameterError(f"an attack made from another is written like retrained(MLP-A), got {name!r}")
    return way.strip(), inner[:-1].strip()


def names() -> list[str]:
    """The names of all attacks on one table, those of installed packages included."""
    return list(ATTACKS)


def keeping(releases: int) -> list[Keeping]:
    """Everybody who keeps every release, untrained, for histories of so many."""
    return [KEEPING.make(name, releases=releases) for name in KEEPING]


def lineup(wanted: Iterable[str], **options: Any) -> list[Attack]:
    """Several new attacks by name; each takes those of the options (random_state, hidden, guard …) that it knows.

    An option that is None counts as not given. An attack's ``own_options`` keep their defaults.
    """
    return [_lined_up(name, options) for name in wanted]


def _lined_up(name: str, options: Mapping[str, Any]) -> Attack:
    way, inner = taken_apart(name)
    if way is None:
        return ATTACKS.lineup([name], **options)[0]
    return WAYS.lineup([way], **{**options, "base": _lined_up(inner, options)})[0]


_NAMES = ("ATTACKS", "KEEPING", "WAYS", "class_of", "get", "keeping", "lineup", "names")
__all__ = [*_EXPORTS, "ATTACKS", "KEEPING", "WAYS", "class_of", "get", "keeping", "lineup", "names"]
__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS, *_NAMES)
