"""What stands on a reproduction's page besides figures: the choices behind each of them, and the main finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attriguard.classifiers.linear import INVERSE_REGULARISATION, ONE_VS_ALL
from attriguard.classifiers.network import NetworkClassifier
from attriguard.classifiers.readings import OUTPUTS, PROBABILITY
from attriguard.experiments.base import FAILS, HOLDS, PARTLY, Experiment, Numbers
from attriguard.experiments.curves import at
from attriguard.experiments.profiles import PROFILES, Choices

# The budget that the main finding speaks of.
BUDGET = 4.0


def choices_of(experiment: Experiment, profile: str, facts: Mapping[str, Any]) -> str:
    """The settings behind an experiment's figures in one line; only those of the parts that it needs."""
    if experiment.sizes_of_its_own:
        return ""
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


def main_finding(measured: Sequence[tuple[Experiment, Numbers]]) -> list[str]:
    """Three sentences, as far as what they speak of was measured."""
    said = []
    curves = next((numbers["curves"] for experiment, numbers in measured if experiment.name == "figure-4"), None)
    if curves is not None:
        first, last, adapted = curves["NN-A"]["before"], at(curves["NN-A"], BUDGET), at(curves["AT-A"], BUDGET)
        said.append(
            f"A network that does not know of the guard (NN-A) infers the private attribute of {first:.1%} of "
            f"the users before protection, and of {last:.1%} after it, at a budget of {BUDGET:g} changed ratings a "
            "user on average."
        )
        helps = adapted > last + (first - last) / 2
        said.append(
            f"The paper says that adapting to the guard hardly helps an attacker; "
            f"{'but' if helps else 'and'} one who learns from users that the guard has protected (AT-A) "
            f"{'still infers' if helps else 'infers'} that of {adapted:.1%}."
        )
    verdicts = _verdicts(measured, in_paper=True)
    if verdicts:
        said.append(f"Of the {len(verdicts)} claims of the paper that were tested, {counted(verdicts)}.")
    return said


def summary(measured: Sequence[tuple[Experiment, Numbers]], source: str, profile: str) -> str:
    """How many claims hold: the paper's own, and those beyond it."""
    parts = []
    for in_paper, words in ((True, "claims of the paper"), (False, "claims beyond it")):
        verdicts = _verdicts(measured, in_paper=in_paper)
        if verdicts:
            parts.append(f"{len(verdicts)} {words}: {counted(verdicts)}.")
    return f"Tested on {source} with the profile “{profile}”: {' '.join(parts) or 'nothing yet.'}"


def counted(verdicts: Sequence[str]) -> str:
    """How many of them hold, hold partly, and do not hold."""
    return ", ".join(
        f"{verdicts.count(verdict)} {words}"
        for verdict, words in ((HOLDS, "hold"), (PARTLY, "hold partly"), (FAILS, "do not hold"))
    )


def _verdicts(measured: Sequence[tuple[Experiment, Numbers]], *, in_paper: bool) -> list[str]:
    return [experiment.verdict(numbers) for experiment, numbers in measured if experiment.in_paper == in_paper]
