"""What stands on a reproduction's page besides figures: the choices behind each of them, and the main finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attriguard.classifiers.linear import INVERSE_REGULARISATION, ONE_VS_ALL
from attriguard.classifiers.network import NetworkClassifier
from attriguard.classifiers.readings import OUTPUTS, PROBABILITY
from attriguard.experiments.base import HOLDS, Experiment, Numbers
from attriguard.experiments.curves import at
from attriguard.experiments.profiles import PROFILES, Choices

# The budget that the main finding speaks of.
BUDGET = 4.0


def choices_of(experiment: Experiment, profile: str, facts: Mapping[str, Any]) -> str:
    """The settings behind an experiment's figures in one line; only those of the parts that it needs."""
    needs, size = " ".join(experiment.inputs), PROFILES[profile]
    chosen, said = size.choices, []
    if "LR-D" in needs:
        said.append(f"LR-D is {linear_of(chosen)}")
    if "NN-D" in needs:
        read = "its log-probability" if chosen.network_reading == PROBABILITY else "its output before the softmax"
        said.append(f"NN-D has {size.defender_units:,} units, C_i is {read}")
    if "all searches" in needs:
        pairs = "two entries" if chosen.jsma_pairs else "one entry"
        said.append(f"CW asks for a lead κ of {chosen.cw_lead:g}, JSMA moves {pairs} a step")
    attackers = "all attacks" in needs or any(name in needs for name in ("NN-A", "AT-A", "RC-A"))
    if attackers:
        said.append(f"NN-A has {size.attacker_units:,} units")
    if attackers or "NN-D" in needs:
        said.append(f"networks learn {recipe_of(chosen.recipe, size.epochs)}")
    if "all attacks" in needs:
        units = chosen.lra_units or size.attacker_units
        matrix = "with the rows that it attacks" if chosen.noisy_matrix else "without the rows that it attacks"
        said.append(f"LRA-A has {units:,} units and factorises the training users {matrix}")
    if "recommender" in needs:
        network = chosen.precision_units
        said.append("AttriGuard has LR-D" if network is None else f"AttriGuard has NN-D with {network:,} units")
    users = facts.get("test users")
    said.append(f"{users:,} test users, one seed ({facts.get('seed')})" if users else f"one seed ({facts.get('seed')})")
    return f"Choices: {'; '.join(said)}."


def linear_of(chosen: Choices) -> str:
    """LR-D in words."""
    kind = "one-vs-all" if chosen.linear == "lr-ova" else "multinomial"
    default = ONE_VS_ALL if chosen.linear == "lr-ova" else INVERSE_REGULARISATION
    read = "its output" if chosen.reading == OUTPUTS else "its probability"
    return f"a {kind} logistic regression with C = {chosen.strength or default:g}, C_i {read}"


def recipe_of(recipe: str, epochs: int) -> str:
    """How networks learn, in words."""
    network = NetworkClassifier.by_recipe(recipe, epochs=epochs)
    falls = ", which falls to 0," if network.decay else " in the given order"
    return f"for {epochs} epochs at a rate of {network.learning_rate:g}{falls} with a dropout of {network.dropout:g}"


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
