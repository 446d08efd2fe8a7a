"""What stands on a reproduction's page besides figures: the choices behind each of them, and the main finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attriguard.classifiers.linear import INVERSE_REGULARISATION
from attriguard.classifiers.network import NetworkClassifier
from attriguard.experiments.base import HOLDS, Experiment, Numbers
from attriguard.experiments.curves import at
from attriguard.experiments.profiles import PROFILES
from attriguard.noise.carlini_wagner import CarliniWagner

# The budget that the main finding speaks of.
BUDGET = 4.0


def choices_of(experiment: Experiment, profile: str, facts: Mapping[str, Any]) -> str:
    """The settings behind an experiment's figures in one line; only those of the parts that it needs."""
    needs, size = " ".join(experiment.inputs), PROFILES[profile]
    network = NetworkClassifier(epochs=size.epochs)
    said = []
    if "LR-D" in needs:
        said.append(f"LR-D is a multinomial logistic regression with C = {INVERSE_REGULARISATION:g}, C_i its output")
    if "NN-D" in needs:
        said.append(f"NN-D has {size.defender_units:,} units, C_i is its log-probability")
    if "all searches" in needs:
        said.append(f"CW asks for a lead κ of {CarliniWagner().lead:g}")
    attackers = "all attacks" in needs or any(name in needs for name in ("NN-A", "AT-A", "RC-A"))
    if attackers:
        said.append(f"NN-A has {size.attacker_units:,} units")
    if attackers or "NN-D" in needs:
        said.append(
            f"networks learn for {network.epochs} epochs at a rate of {network.learning_rate:g}, which falls to 0, "
            f"with a dropout of {network.dropout:g}"
        )
    users = facts.get("test users")
    said.append(f"{users:,} test users, one seed ({facts.get('seed')})" if users else f"one seed ({facts.get('seed')})")
    return f"Choices: {'; '.join(said)}."


def main_finding(measured: Mapping[str, tuple[Experiment, Numbers]]) -> list[str]:
    """Three sentences, as far as what they speak of was measured."""
    said = []
    if "figure-4" in measured:
        curves = measured["figure-4"][1]["curves"]
        first, last = curves["NN-A"]["before"], at(curves["NN-A"], BUDGET)
        said.append(
            f"An attacker who does not know the guard (NN-A) infers the value of {first:.1%} of the users before "
            f"protection, and of {last:.1%} after {BUDGET:g} changed ratings a user at most, on average."
        )
        said.append(
            f"An attacker who learns from users that the guard has protected (AT-A) still infers it of "
            f"{at(curves['AT-A'], BUDGET):.1%}: the paper says that the guard withstands attackers who know it, "
            "and here it does not."
            if at(curves["AT-A"], BUDGET) > last + (first - last) / 2
            else f"An attacker who learns from users that the guard has protected (AT-A) infers it of "
            f"{at(curves['AT-A'], BUDGET):.1%}."
        )
    own = [experiment.verdict(numbers) for experiment, numbers in measured.values() if experiment.in_paper]
    if own:
        said.append(f"Of the {len(own)} claims of the paper that were tested, {own.count(HOLDS)} hold as stated.")
    return said
