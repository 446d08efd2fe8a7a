"""The synthetic twin: made-up ratings that behave like the paper's, from a seed, in any size.

The twin agrees with the paper's data in its shape: how many items a user rates, how popular items are, how the ratings
are distributed, how uneven the cities are, and how well a linear model and a forest infer a user's city. No row of the
paper's data is in it. ``twin_world`` draws the items and the cities; this module draws the users.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.data.named.twin_dates import with_dates
from attriguard.data.named.twin_names import app_names, city_names
from attriguard.data.named.twin_world import World, make_world
from attriguard.data.public_data import PublicData
from attriguard.data.scale import RatingScale
from attriguard.data.split import stratified_test_mask
from attriguard.errors import ParameterError

Ints = NDArray[np.int64]
Block = tuple[csr_array, Ints]

SCALE = RatingScale(1, 5, 1)
TEST_SHARE = 1_631 / 16_238
# A user has ACTIVITY_LEAST ratings and ACTIVITY_SPREAD · e^ACTIVITY_POWER · (1 + (e / ACTIVITY_TAIL)^4) more,
# where e is exponential with mean 1. Most users have few ratings, and the tail is heavy.
ACTIVITY_LEAST = 11
ACTIVITY_SPREAD = 11.0
ACTIVITY_POWER = 1.26
ACTIVITY_TAIL = 10.5
# Nobody rates more than this share of the items.
ACTIVITY_LIMIT = 0.25
# The local share of a user is Beta distributed around the rate of the city: the larger this is, the closer to it.
ALIKE = 8.0
# There are few local items, so the local share falls with the number of ratings: a user with n ratings has
# (n / FADE_FROM)^-LOCAL_FADE times the share of the city, and never more than LOCAL_LIMIT.
LOCAL_FADE = 0.25
FADE_FROM = 20.0
LOCAL_LIMIT = 0.8
# One to five stars, as shares of all ratings; and how much of their variance is the item's and the user's.
STAR_SHARES = (0.043, 0.028, 0.071, 0.182, 0.676)
ITEM_VARIANCE = 0.12
USER_VARIANCE = 0.36
# Users are drawn in chunks of this many, each with its own seed. Another number gives another twin.
CHUNK = 4_096

LEAST_USERS, LEAST_ITEMS, MOST_VALUES = 20, 20, 1_000


def make_twin(
    n_users: int = 16_238, n_items: int = 10_000, n_values: int = 25, *, seed: int = 0, dates: bool = False
) -> PublicData:
    """The twin as one data set with a split of its own: ratings of apps, and the city of every user.

    The same arguments give the same data. An item that is mostly rated in one city is called after it. With ``dates``,
    the table of its ratings has a column of dates, over one year.
    """
    _check_sizes(n_users, n_items, n_values, seed)
    world = _world(n_items, n_values, seed)
    X, y = _stack(list(_chunks(world, n_users, seed)))
    values = city_names(n_values)
    places = [values[place] if place >= 0 else "" for place in world.place]
    data = PublicData(
        X=X,
        users=np.arange(n_users, dtype=np.int64),
        items=np.arange(n_items, dtype=np.int64),
        scale=SCALE,
        attribute="city",
        y=y,
        values=values,
        item_names=app_names(n_items, places=places),
        test_mask=stratified_test_mask(y, TEST_SHARE, _rng(seed, 1)),
    )
    return with_dates(data, seed) if dates else data


def _world(n_items: int, n_values: int, seed: int) -> World:
    # The mean of the activity, taken over evenly spaced users.
    users = (np.arange(10_000) + 0.5) / 10_000
    mean = float(_activity(-np.log1p(-users), n_items).mean())
    return make_world(n_items, n_values, mean, _rng(seed, 0))


def _chunks(world: World, n_users: int, seed: int) -> Iterator[Block]:
    for number, start in enumerate(range(0, n_users, CHUNK)):
        yield _chunk(world, min(CHUNK, n_users - start), _rng(seed, 2, number))


def _chunk(world: World, n_users: int, rng: np.random.Generator) -> Block:
    """Users with their ratings, independent of all other chunks."""
    n_items = world.quality.size
    y = _labels(world.shares, n_users, rng)
    activity = _activity(rng.standard_exponential(n_users), n_items)
    taste = world.taste.draw(y, rng)
    users, items = _rated(world, taste, activity, rng)
    unit = _ratings(world.quality[items], users, n_users, rng)
    indptr = np.concatenate([[0], np.cumsum(activity)])
    return _csr(unit, items.astype(np.int32), indptr.astype(np.int32), n_items), y


def _labels(shares: NDArray[np.float64], n_users: int, rng: np.random.Generator) -> Ints:
    """Cities in proportion to their shares, in random order; two users of every city if there is room."""
    exact = shares * n_users
    quota = np.floor(exact).astype(np.int64)
    quota[np.argsort(quota - exact, kind="stable")[: n_users - quota.sum()]] += 1
    while quota.min() < min(2, n_users // shares.size):
        quota[quota.argmin()] += 1
        quota[quota.argmax()] -= 1
    return rng.permutation(np.repeat(np.arange(shares.size), quota))


def _activity(exponential: NDArray[np.float64], n_items: int) -> Ints:
    """The number of ratings of users, from one exponential draw each."""
    tail = 1 + (exponential / ACTIVITY_TAIL) ** 4
    more = np.floor(ACTIVITY_SPREAD * exponential**ACTIVITY_POWER * tail)
    return np.minimum(ACTIVITY_LEAST + more, int(ACTIVITY_LIMIT * n_items)).astype(np.int64)


def _rated(world: World, taste: Ints, activity: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Pairs of a user and an item, sorted: items are drawn from the two shelves until every user has enough of them."""
    m, n_items, n_users = world.shares.size, world.quality.size, taste.size
    rate = world.local_rate[taste] * (activity / FADE_FROM) ** -LOCAL_FADE
    rate = np.clip(rate, 1e-3, LOCAL_LIMIT)
    local = np.minimum(rng.beta(ALIKE * rate, ALIKE * (1 - rate)), LOCAL_LIMIT)
    keys = np.empty(0, dtype=np.int64)
    missing = activity
    while missing.any():
        users = np.repeat(np.arange(n_users), missing)
        shelf = taste[users] + m * (rng.random(users.size) < local[users])
        keys = np.sort(np.concatenate([keys, users * n_items + world.shelves.draw(shelf, rng)]))
        # Sorting finds repeats several times faster than np.unique, which hashes.
        keys = keys[np.diff(keys, prepend=-1) > 0]
        missing = activity - np.bincount(keys // n_items, minlength=n_users)
    users, items = np.divmod(keys, n_items)
    return users, items


def _ratings(quality: NDArray[np.float64], users: Ints, n_users: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Entries in [0, 1]: the sum of the item's quality, the user's kindness and chance, cut into five stars."""
    kindness = rng.standard_normal(n_users)[users]
    chance = rng.standard_normal(users.size)
    total = (
        np.sqrt(ITEM_VARIANCE) * quality
        + np.sqrt(USER_VARIANCE) * kindness
        + np.sqrt(1 - ITEM_VARIANCE - USER_VARIANCE) * chance
    )
    cuts = [NormalDist().inv_cdf(share) for share in np.cumsum(STAR_SHARES)[:-1]]
    return SCALE.to_unit(1 + np.searchsorted(cuts, total))


def _stack(blocks: list[Block]) -> Block:
    if len(blocks) == 1:
        return blocks[0]
    lengths = np.concatenate([np.diff(X.indptr) for X, _ in blocks])
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    data = np.concatenate([X.data for X, _ in blocks])
    indices = np.concatenate([X.indices for X, _ in blocks])
    return _csr(data, indices, indptr, blocks[0][0].shape[1]), np.concatenate([y for _, y in blocks])


def _csr(data: NDArray[np.float32], indices: NDArray[np.int32], indptr: NDArray[Any], n_items: int) -> csr_array:
    indptr = indptr.astype(np.int32 if data.size < 2**31 else np.int64, copy=False)
    X = csr_array((data, indices, indptr), shape=(indptr.size - 1, n_items))
    X.has_sorted_indices = X.has_canonical_format = True
    return X


def _rng(seed: int, *key: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(int(seed), spawn_key=key)))


def _check_sizes(n_users: int, n_items: int, n_values: int, seed: int) -> None:
    _check_whole(n_values, "n_values", least=2, most=MOST_VALUES)
    _check_whole(n_items, "n_items", least=LEAST_ITEMS)
    _check_whole(n_users, "n_users", least=max(LEAST_USERS, 2 * n_values))
    _check_whole(seed, "seed", least=0)


def _check_whole(value: int, name: str, *, least: int, most: int | None = None) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        span = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise ParameterError(f"{name} of a twin must be a whole number {span}, got {value!r}")
