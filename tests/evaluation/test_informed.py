"""How much ratings may say of a known value is found by trial: down from the prior while it helps, else up."""

from __future__ import annotations

import pytest

from attriguard.evaluation.informed import SHARES, best_share
from attriguard.progress import Progress


def tried(told):
    """The share that is found where a release tells so much, and the shares that were tried."""
    asked = []

    def plan(share, part):
        asked.append(share)
        return share

    plan_found, share = best_share(plan, told, lambda made, share, part: made, Progress())
    assert plan_found == share
    return share, asked


@pytest.mark.parametrize("best", SHARES)
def test_the_least_is_found_where_there_is_one_valley(best):
    share, asked = tried(lambda share: abs(SHARES.index(share) - SHARES.index(best)))
    assert share == best
    assert len(asked) == len(set(asked)) <= len(SHARES)


def test_it_stays_at_the_prior_where_nothing_helps():
    share, asked = tried(lambda share: 0.6)
    assert share == 1.0
    assert asked == [1.0, 0.7, 1.1]


def test_it_never_tells_more_than_at_the_prior():
    told = dict(zip(SHARES, (0.9, 0.8, 0.75, 0.7, 0.69, 0.72, 0.5, 0.9, 0.9), strict=True))
    share, _ = tried(told.get)
    assert told[share] <= told[1.0]
    assert share == 0.7  # the first valley, not the deepest: every trial is a plan for the whole table


@pytest.mark.parametrize(("second", "taken"), [(0.4, "second"), (0.6, "first")])
def test_what_guards_plan_that_have_seen_the_release_is_taken_where_it_tells_less(second, taken):
    told = {"first": 0.5, "second": second}
    found, share = best_share(lambda share, part: "first", told.get, lambda made, share, part: "second", Progress())
    assert (found, share) == (taken, 1.0)
