"""The paper's tables and figures, one file each; they only compose what the rest of the package does."""

from __future__ import annotations

EXPERIMENTS = {
    "figure-6": ("attriguard.experiments.figure6", "NN-D protects against NN-A: the attacker's accuracy over budgets"),
}
