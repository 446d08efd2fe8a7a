"""What the paper reports, to stand beside what is measured."""

from __future__ import annotations

# Table 1: inference accuracy on the Google Play data when no defense is used.
TABLE_1 = {
    "BA-A": 0.10,
    "LR-A": 0.43,
    "RF-A": 0.44,
    "NN-A": 0.39,
    "AT-A": 0.39,
    "DD-A": 0.40,
    "RC-A": 0.38,
    "LRA-A": 0.27,
}
PAPER_DATASET = "google-play"


def table_1(attack: str, dataset: str | None) -> float | None:
    """The paper's value, where the data is the paper's."""
    return TABLE_1.get(attack) if dataset == PAPER_DATASET else None
