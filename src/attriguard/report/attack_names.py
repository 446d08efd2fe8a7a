"""What pages say about an attack that is known by its name only."""

from __future__ import annotations

from attriguard.attacks import ATTACKS, KEEPING
from attriguard.attacks.base import Attack
from attriguard.errors import ParameterError


def plain_name(attack: str) -> str:
    """What the attacker uses, for readers who do not know the paper; the name itself where nothing else is known."""
    cls = class_named(attack)
    return attack if cls is None else cls.plain_name or summary(attack)


def summary(attack: str) -> str:
    """What the attacker does, in a few words; the name itself where nothing else is known."""
    return getattr(class_named(attack), "summary", attack)


def full_name(attack: str) -> str:
    """The plain name before the code: "logistic regression (LR-A)", "logistic regression (LR-A) retrained"."""
    plain = plain_name(attack)
    if plain != attack:
        return f"{plain} ({attack})"
    return " ".join(map(full_name, attack.split())) if " " in attack else attack


def is_baseline(attack: str) -> bool:
    """Does the attack guess without looking at the data?"""
    return bool(getattr(class_named(attack), "is_baseline", False))


def class_named(attack: str) -> type[Attack] | None:
    """The attack's class, of this package or a plug-in; None for any other name, such as "LR-A retrained"."""
    try:
        if attack in ATTACKS:
            return ATTACKS[attack]
        if attack in KEEPING:
            return KEEPING[attack]
    except ParameterError:  # an installed plug-in that cannot be loaded
        return None
    return _loaded().get(attack)


def known_names() -> list[str]:
    """The names of all attacks: those of the registry, and those of the plug-ins that were loaded."""
    return list(dict.fromkeys([*ATTACKS, *KEEPING, *_loaded()]))


def _loaded() -> dict[str, type[Attack]]:
    """Attacks by name, as soon as their modules are loaded: so are plug-ins that were given as "module:Class"."""
    found, left = {}, [Attack]
    while left:
        cls = left.pop()
        left += cls.__subclasses__()
        if isinstance(vars(cls).get("name"), str):
            found[cls.name] = cls
    return found
