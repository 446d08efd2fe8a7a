from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attriguard.data.scale import RatingScale
from attriguard.errors import DataError

SCALES = st.builds(
    lambda lowest, levels, step: RatingScale(lowest * step, (lowest + levels - 1) * step, step),
    st.integers(-5, 5),
    st.integers(1, 100),
    st.sampled_from([0.1, 0.25, 0.5, 1.0, 10.0]),
)


def test_five_stars_are_the_papers_entries() -> None:
    stars = RatingScale(1, 5, 1)
    assert stars.levels == 5
    assert stars.to_unit([1, 2, 3, 4, 5]).tolist() == np.float32([0.2, 0.4, 0.6, 0.8, 1.0]).tolist()
    assert stars.from_unit([0.2, 1.0]).tolist() == [1.0, 5.0]
    assert stars.snap([0.0, 0.09, 0.11, 0.93, 1.4, -3.0]).tolist() == np.float32([0, 0, 0.2, 1.0, 1.0, 0]).tolist()
    assert str(stars) == "1 to 5 in steps of 1"


def test_likes_are_the_scale_0_1() -> None:
    likes = RatingScale.likes()
    assert likes.is_likes
    assert likes.levels == 1
    assert likes.to_unit([0, 1]).tolist() == [0.0, 1.0]
    assert likes.from_unit([0, 1]).tolist() == [0.0, 1.0]
    assert not likes.off_scale([0, 1]).any()


def test_a_scale_that_begins_at_0_keeps_0_apart_from_not_rated() -> None:
    scale = RatingScale(0, 5, 1)
    assert scale.levels == 6
    assert scale.to_unit([0])[0] > 0


@given(SCALES)
def test_every_rating_goes_to_the_unit_interval_and_back(scale: RatingScale) -> None:
    raw = scale.lowest + scale.step * np.arange(round((scale.highest - scale.lowest) / scale.step) + 1)
    unit = scale.to_unit(raw)
    assert unit.dtype == np.float32
    assert (unit > 0).sum() >= raw.size - 1
    assert unit.max() == 1.0
    assert np.allclose(scale.from_unit(unit), raw)
    assert np.array_equal(scale.snap(unit), unit)
    assert not scale.off_scale(raw).any()
    if scale.levels > 1:
        assert scale.off_scale(raw + 0.4 * scale.step).all()
        assert scale.off_scale([scale.lowest - scale.step, scale.highest + scale.step]).all()


@given(SCALES)
def test_a_scale_is_inferred_from_all_its_ratings(scale: RatingScale) -> None:
    raw = scale.lowest + scale.step * np.arange(round((scale.highest - scale.lowest) / scale.step) + 1)
    found = RatingScale.infer(np.repeat(raw, 2)[::-1])
    if raw.size > 1:
        assert np.allclose([found.lowest, found.highest, found.step], [scale.lowest, scale.highest, scale.step])
    assert not found.off_scale(raw).any()


def test_inference() -> None:
    assert RatingScale.infer([0.5, 5.0, 4.5]) == RatingScale(0.5, 5.0, 0.5)
    assert RatingScale.infer([1, 1]).is_likes
    assert RatingScale.infer([0, 1]).is_likes
    assert RatingScale.infer([3.0]) == RatingScale(3.0, 3.0, 1.0)
    for ratings, words in [
        ([], "from no ratings"),
        ([1, 2, 2.7], r"no even scale: .*smallest gap is 0\.7.*name the scale"),
        ([1, 1.001, 5], "levels"),
        ([1, 1 + 1e-15, 1e308], "levels"),
        ([-1e308, 0, 1e308], "levels|even scale"),
        ([0, 1e-320, 1e300], "levels"),
    ]:
        with pytest.raises(DataError, match=words):
            RatingScale.infer(ratings)


@pytest.mark.parametrize(
    "numbers",
    [
        (1, 0, 1),
        (1, 5, 0),
        (1, 5, -1),
        (1, float("nan"), 1),
        (0, float("inf"), 1),
        (1, 5, 3),
        (0, 1e6, 1),
        (0, 1, 1e-320),
    ],
)
def test_impossible_scales(numbers: tuple[float, float, float]) -> None:
    with pytest.raises(DataError, match=r"scale|steps"):
        RatingScale(*numbers)
