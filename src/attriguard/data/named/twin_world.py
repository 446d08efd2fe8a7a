"""The world of the synthetic twin: how popular each item is, where it is at home, and what each city rates.

Items lie on two shelves. A city's *world shelf* holds every item, weighted by popularity and a weak taste of
the country; its *local shelf* holds the items at home in the city or in its country. A user takes most ratings
from the first and a few from the second, and those few are what gives the city away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attriguard.data.named.twin_names import city_countries

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Share of city k of m: exp(-SHARE_DECAY · k / (m + SHARE_SOFT)); the second keeps few cities from being uneven.
SHARE_DECAY = 2.6
SHARE_SOFT = 3.0
# Popularity at relative rank u: (1 - POP_BEND · u²)^POP_CUT / (u + POP_SHIFT): flat at the top, like 1/rank in
# the middle, falling off in the tail. POP_TOP lifts the first few items.
POP_SHIFT = 0.0063
POP_BEND = 0.955
POP_CUT = 0.65
POP_TOP = 0.5
# No item is rated by more than this share of users, however few items there are.
POP_LIMIT = 0.8
# This share of the items has a home; what share of its ratings an item gets from there is Beta distributed.
LOCAL_ITEMS = 0.41
LOCALITY = (0.6, 0.6)
# Homes are drawn by this power of their share of users; with this probability a home is one city, else a country.
HOME_POWER = 1.1
CITY_HOME = 0.3
# A home is so large that at most this share of its users pick the item; but where items are so few that all are
# popular, up to so many times the mean pick.
REACH = 0.2
REACH_OF_MEAN = 4.0
# How strongly a country's taste tilts the world shelf: standard deviation of the logarithm.
TILT = 0.4
# Users whose taste is drawn anew from the cities of their country, or from all cities: they moved.
MOVED_WITHIN = 0.45
MOVED_ABROAD = 0.1


@dataclass(frozen=True)
class RowSampler:
    """Draws columns from many discrete distributions at once, one a row."""

    cumulative: Floats
    n_columns: int

    @classmethod
    def of(cls, weights: Floats) -> RowSampler:
        """Rows of weights that need not sum to 1, but must not all be zero."""
        cumulative = np.cumsum(weights, axis=1)
        cumulative /= cumulative[:, -1:]
        # One ascending array: row r lives in (r, r + 1], so that one binary search serves all rows.
        cumulative += np.arange(len(weights))[:, None]
        return cls(cumulative.ravel(), weights.shape[1])

    def draw(self, rows: Codes, rng: np.random.Generator) -> Codes:
        """One column for each of ``rows``."""
        at = np.searchsorted(self.cumulative, rows + rng.random(rows.size), side="right")
        return np.minimum(at - rows * self.n_columns, self.n_columns - 1)


@dataclass(frozen=True)
class World:
    """What all users of one twin share: the cities, the items, and the distributions that ratings are drawn from."""

    shares: Floats  # (m,) share of users a city
    taste: RowSampler  # city lived in -> city whose items a user rates
    shelves: RowSampler  # rows 0..m-1: the world shelves; m..2m-1: the local ones
    local_rate: Floats  # (m,) mean share of ratings taken from the local shelf
    quality: Floats  # (n_items,) how good an item is, standard normal
    place: Codes  # (n_items,) the one city an item is mostly rated in, -1 for none


def city_shares(n_values: int) -> Floats:
    """The share of users of each city, largest first."""
    shares = np.exp(-SHARE_DECAY * np.arange(n_values) / (n_values + SHARE_SOFT))
    return shares / shares.sum()


def popularity(n_items: int, ratings_per_user: float) -> Floats:
    """The expected number of times a user picks each item, most popular first.

    The curve gives the share of users who rate each item. A user who picks an item twice rates it once, so the number
    of picks is -log(1 - share).
    """
    rank = np.arange(1, n_items + 1)
    u = rank / n_items
    curve = (1 - POP_BEND * u**2) ** POP_CUT / (u + POP_SHIFT) * (1 + POP_TOP / rank)
    rated = np.minimum(curve * (ratings_per_user / curve.sum()), POP_LIMIT)
    return -np.log1p(-rated)


def make_world(n_items: int, n_values: int, ratings_per_user: float, rng: np.random.Generator) -> World:
    """Draw the world in which users with ``ratings_per_user`` ratings on average live."""
    shares, country = city_shares(n_values), city_countries(n_values)
    picks = rng.permutation(popularity(n_items, ratings_per_user))
    locality = np.where(rng.random(n_items) < LOCAL_ITEMS, rng.beta(*LOCALITY, size=n_items), 0.0)
    reach = max(REACH, REACH_OF_MEAN * ratings_per_user / n_items)
    # An item that is too popular for every home gets as large a local share as the largest country can hold.
    locality = np.minimum(locality, 0.999 * reach * np.bincount(country, shares).max() / picks)
    home = _homes(picks * locality, shares, country, reach, rng)

    tilt = np.exp(TILT * rng.standard_normal((country.max() + 1, n_items)))[country]
    world = picks * (1 - locality) * tilt / (shares @ tilt)
    local = picks * locality / np.maximum(shares @ home, shares.min()) * home
    local_rate = local.sum(axis=1) / (local.sum(axis=1) + world.sum(axis=1))
    # A city without local items has an empty local shelf. Nobody draws from it, but a sampler needs weights.
    local[local_rate == 0] = world[local_rate == 0]

    quality = rng.standard_normal(n_items)
    of_one_city = (home.sum(axis=0) == 1) & (locality > 0.5)
    return World(
        shares=shares,
        taste=RowSampler.of(_moves(shares, country)),
        shelves=RowSampler.of(np.concatenate([world, local])),
        local_rate=local_rate,
        quality=quality - np.average(quality, weights=picks),
        place=np.where(of_one_city, home.argmax(axis=0), -1),
    )


def _homes(
    home_picks: Floats, shares: Floats, country: Codes, reach: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """The cities (rows) in which each item (column) is at home: one city, all cities of one country, or none.

    ``home_picks`` is how often an item is picked at home, over all users. A home must have enough users for that.
    """
    country_shares: Floats = np.bincount(country, shares).astype(np.float64)
    chosen = _choose(country_shares, home_picks, country_shares * reach, rng)
    home = country[:, None] == chosen
    city = _choose(shares, home_picks, shares * reach, rng, among=home)
    narrow = (rng.random(home_picks.size) < CITY_HOME) & (city >= 0)
    return np.where(narrow, np.arange(shares.size)[:, None] == city, home)


def _choose(
    sizes: Floats,
    picks: Floats,
    capacity: Floats,
    rng: np.random.Generator,
    *,
    among: NDArray[np.bool_] | None = None,
) -> Codes:
    """One home for each item among those that can hold its picks; -1 where none can."""
    fits = (picks > 0) & (picks < capacity[:, None])
    if among is not None:
        fits &= among
    weights = np.cumsum(fits * (sizes**HOME_POWER)[:, None], axis=0)
    chosen = (rng.random(picks.size) * weights[-1] >= weights).sum(axis=0)
    return np.where(weights[-1] > 0, chosen, -1)


def _moves(shares: Floats, country: Codes) -> Floats:
    """The probability that a user who lives in one city (row) has the taste of another (column)."""
    same = np.where(country[:, None] == country, shares, 0.0)
    within = same / same.sum(axis=1, keepdims=True)
    stay = 1.0 - MOVED_WITHIN - MOVED_ABROAD
    return stay * np.eye(shares.size) + MOVED_WITHIN * within + MOVED_ABROAD * shares
