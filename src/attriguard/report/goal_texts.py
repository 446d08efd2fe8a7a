"""What a page says about each goal of a guard; the only table by goal in this room, to move beside the goals."""

from __future__ import annotations

from attriguard.goals import BOTH, CONCEAL, MISLEAD

# What an attacker who knows the guard can do: for the limits on the page, and in one line for the terminal.
KNOWING = {
    MISLEAD: (
        "gets back most of what he lost. Changing a few ratings misleads; it does not erase what the others say.",
        "An attacker who knows the guard and retrains gets most of it back.",
    ),
    CONCEAL: (
        "gets back a part of what he lost. He cannot get back what was taken away, but the other ratings still "
        "tell him something.",
        "An attacker who knows the guard and retrains gets a part of it back.",
    ),
    BOTH: (
        "gets back much of what he lost. He learns to ignore what points elsewhere, but cannot get back what was taken "
        "away.",
        "An attacker who knows the guard and retrains gets much of it back.",
    ),
}
# How the guard chooses what to change.
DRAWS = {
    MISLEAD: "The guard draws a value at random, mostly by how frequent it is, and changes just what points to it.",
    CONCEAL: "The guard makes one change after another, each time the change after which the ratings tell least.",
    BOTH: "The guard first takes away the ratings that tell most, then draws a value at random, mostly by how frequent "
    "it is, and changes what points to it.",
}
