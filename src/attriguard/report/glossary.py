"""Words that pages use, each with what it means in a plain sentence; a page explains those that occur on it."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Spellings of a word, the one that is shown first, and what it means.
Entry = tuple[tuple[str, ...], str]
WORDS: tuple[Entry, ...] = (
    (("accuracy", "accuracies"), "The share of users whose value an attacker infers rightly."),
    (
        ("attacker", "attack"),
        "Whoever infers the private value from what users publish; here a program that has learnt from users who "
        "disclose theirs.",
    ),
    (
        ("AUC",),
        "How often, of two users of different kinds, the right one is picked: 0.5 is no better than a coin, 1 is "
        "always right.",
    ),
    (
        ("balanced accuracy",),
        "The accuracy among the users of each value by itself, averaged over the values: a rare value counts as much "
        "as a frequent one.",
    ),
    (
        ("budget",),
        "How many ratings may change a user, on average over all users; some get more changes, some none.",
    ),
    (("claim",), "What the paper says, put so that numbers can confirm or contradict it."),
    (("defense",), "Anything that changes ratings before they are published, so that attackers infer less."),
    (("detector", "told from untouched", "tells protected users apart"), "Whoever tells protected users from others."),
    (("guard",), "What changes a few ratings of each user before they are published, so that attackers infer less."),
    (
        ("guessing", "most frequent value"),
        "To name the most frequent value for everybody, without a look at anybody's ratings.",
    ),
    (
        ("inference risk",),
        "The risk that somebody deduces a private value of a person from other things that are known of the person.",
    ),
    (
        ("interval",),
        "A range round a figure: of 100 measurements like this one, each with other users, about 95 would have the "
        "true figure within theirs.",
    ),
    (
        ("knows the guard", "know the guard", "knows it", "knows and retrains", "retrained", "retrains"),
        "Said of an attacker who protects users of his own with the very same guard and learns from these.",
    ),
    (("linkability",), "Whether two records of the same person can be told to belong together."),
    (("L0",), "The number of ratings that are changed."),
    (("L2",), "The length of the noise: the root of the sum of all squared changes, on a scale from 0 to 1."),
    (("millibit",), "A thousandth of a bit; a bit is what the answer to a question tells that is as often yes as no."),
    (("no guard", "without the guard", "without a guard"), "The ratings as they are, unprotected."),
    (("precision",), "The share of recommended items that the user has indeed rated; these ratings were set aside."),
    (("private value", "private attribute"), "What the ratings must not tell: a user's city, say, or gender."),
    (("recommender",), "A program that learns from everybody's ratings which items to show to a user."),
    (("seed",), "The number that all chance in a run follows from: the same seed gives the same figures."),
    (
        ("SHA-256",),
        "A file's fingerprint: two files with the same one are the same. Somebody who knows all of a file but one "
        "entry can try out that entry, so show the fingerprint of private data to nobody who must not see the data.",
    ),
    (("singling out",), "Whether the rows of one person can be told from those of everybody else."),
    (("strength",), "The number by which a defense is told how much to change; each defense has its own."),
    (("test user",), "A user who stands for those that keep their value private; attackers are tried on them."),
    (("training user",), "A user who stands for those that disclose their value; attackers and guard learn from them."),
    (
        ("unaware", "does not know", "do not know", "trained on unprotected data"),
        "Said of an attacker who has learnt from ratings as they are and expects no guard.",
    ),
)


def explained(text: str, own: Mapping[str, str]) -> list[tuple[str, str]]:
    """The words of a text and what they mean, by the alphabet; ``own`` are words of this text alone.

    A meaning may use other words, which are then explained, too.
    """
    known: dict[str, Entry] = {**{spellings[0]: (spellings, meaning) for spellings, meaning in WORDS}, **_named(text)}
    known |= {word: ((word,), meaning) for word, meaning in own.items()}
    found: dict[str, str] = {}
    while text:
        new = {
            word: meaning
            for word, (spellings, meaning) in known.items()
            if word not in found and any(occurs(spelling, text) for spelling in spellings)
        }
        found |= new
        text = " ".join(new.values())
    return sorted(found.items(), key=lambda entry: entry[0].lower())


def occurs(word: str, text: str) -> bool:
    """Whether a word, or its plural, stands in a text; a word with capitals only as it is spelled."""
    case = re.IGNORECASE if word.islower() else 0
    return re.search(rf"(?<![\w-]){re.escape(word)}s?(?![\w-])", text, case) is not None


def _named(text: str) -> dict[str, Entry]:
    """What has a name in a registry and occurs in a text."""
    from attriguard.goals import GOALS
    from attriguard.noise.policy import POLICIES
    from attriguard.report.attack_names import known_names, summary

    found: dict[str, Entry] = {}
    found |= {name: ((name,), f"An attacker: {summary(name)}.") for name in known_names() if occurs(name, text)}
    found |= {name: ((name,), f"What may change: {policy.meaning}.") for name, policy in POLICIES.items()}
    if occurs("goal", text):  # elsewhere "both" is a word like any other
        found |= {f"{name} (goal)": ((name,), goal.summary) for name, goal in GOALS.items()}
    return found
