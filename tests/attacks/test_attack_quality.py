"""Floors on the paper's data (skipped where it is not): the strongest plain attack, and what knowing is worth."""

from __future__ import annotations

import attriguard as ag
from attriguard.evaluation.aware import evaluate_aware
from attriguard.evaluation.measure import Measure
from attriguard.evaluation.protocol import three_groups


def test_the_small_network_is_stronger_than_the_papers_attacks(google_play):
    train, test = google_play.train, google_play.test
    attack = ag.attacks.get("MLP-A", random_state=0).fit(train.X, train.y)
    assert (attack.predict(test.X) == test.y).mean() > 0.45


def test_knowing_the_guard_gives_most_of_it_back(google_play):
    found = evaluate_aware(
        three_groups(google_play, 0),
        ag.AttriGuard(search="panda"),
        [ag.attacks.get("MLP-A", random_state=0)],
        [4.0],
        measure=Measure(draws=2),
    )
    (unaware,), (retrained,) = found.unaware, found.retrained
    assert unaware.before > 0.42
    assert unaware.accuracy[0] < 0.33
    assert retrained.accuracy[0] > 0.36
