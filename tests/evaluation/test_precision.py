"""What defenses cost a recommender, and what is kept of it."""

from __future__ import annotations

import numpy as np

from attriguard import defenses
from attriguard.evaluation.cache import Cache
from attriguard.evaluation.measure import Measure
from attriguard.evaluation.precision import RecommenderSetup, precision_losses
from attriguard.utility.recommenders import PureSVD


def test_other_truths_have_other_figures(small_twin, tmp_path):
    """BlurMe is told the truth: what was measured for one is not the answer for another."""
    train, test = small_twin.split()
    blurme = defenses.get("BlurMe", scale=small_twin.scale).fit(train.X, train.y)
    turned = (test.y + 1) % small_twin.m

    def after(truth, cache):
        setup = RecommenderSetup(test.X, np.arange(test.n_users), PureSVD(rank=5, random_state=0), ns=[5, 10, 20])
        (loss,) = precision_losses(setup, [blurme], {"BlurMe": 20.0}, truth, measure=Measure(cache=cache))
        return loss.after_protected

    cache = Cache(tmp_path)
    assert (after(test.y, cache) == after(test.y, None)).all()
    assert (after(test.y, cache) == after(test.y, None)).all()  # from the cache
    assert (after(turned, cache) == after(turned, None)).all()
    assert (after(turned, None) != after(test.y, None)).any()
