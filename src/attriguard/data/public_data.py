"""PublicData: what users publish, with the private attribute that some of them disclose."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import UNDISCLOSED, check_matrix
from attriguard._text import facts_html
from attriguard.data.scale import RatingScale
from attriguard.data.split import stratified_test_mask
from attriguard.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

    from attriguard.data.tables.source import SourceTable

# Names of values that a table of facts lists; an attribute may have hundreds.
SHOWN_VALUES = 6


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: the caller's own array stays as it was."""
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, eq=False, kw_only=True)
class PublicData:
    """The public data of users, and what is known of their private attribute; a frozen value.

    Parameters
    ----------
    X
        Users × items, as a float32 ``csr_array`` with entries in [0, 1]: 0 is "not rated". Its indices are sorted, and
        it stores no zeros and no duplicates.
    users, items
        The ids of the rows and of the columns of ``X``.
    scale
        The scale that the ratings have outside of [0, 1].
    attribute
        The name of the private attribute; empty if there is none.
    y
        For each user a code into ``values``, -1 for a user who does not disclose the attribute.
    values
        The names of the attribute's values.
    item_names
        Names of the items for people to read, if there are any.
    test_mask
        Which users are test users, for a data set that comes with a split.
    source
        The table that the data came in, into which a release is written back.
    name
        Of the data set, or of the file that the ratings came in.
    notes
        What a reader must be told about how the data was read, a line each; about no single user.
    """

    X: csr_array
    users: NDArray[Any]
    items: NDArray[Any]
    scale: RatingScale
    attribute: str
    y: NDArray[np.int64]
    values: tuple[str, ...]
    item_names: NDArray[Any] | None = None
    test_mask: NDArray[np.bool_] | None = None
    source: SourceTable | None = field(default=None, repr=False)
    name: str = ""
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        X = check_matrix(self.X, name="X")
        X = csr_array((_frozen(X.data), _frozen(X.indices), _frozen(X.indptr)), shape=X.shape)
        X.has_sorted_indices = X.has_canonical_format = True
        n_users, n_items = X.shape
        y = np.asarray(self.y, dtype=np.int64)
        values = tuple(str(value) for value in self.values)
        self._set("X", X)
        self._set("users", _frozen(np.asarray(self.users)))
        self._set("items", _frozen(np.asarray(self.items)))
        self._set("y", _frozen(y))
        self._set("values", values)
        self._set("notes", tuple(self.notes))
        for name, array, length in (
            ("users", self.users, n_users),
            ("items", self.items, n_items),
            ("y", y, n_users),
            ("item_names", self.item_names, n_items),
            ("test_mask", self.test_mask, n_users),
        ):
            if array is not None and np.shape(array) != (length,):
                raise DataError(f"{name} must have shape ({length},) to go with X, got {np.shape(array)}")
        if y.size and (y.min() < UNDISCLOSED or y.max() >= len(values)):
            raise DataError(f"y must hold codes from -1 (undisclosed) to {len(values) - 1}")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return (
            f"PublicData({self.n_users:,} users × {self.n_items:,} items, {self.X.nnz:,} ratings "
            f"({self.scale}), attribute {self.attribute!r} with {self.m} values)"
        )

    def _repr_html_(self) -> str:
        """A small table of facts for notebooks; it says nothing about any single user."""
        return facts_html("PublicData", self._facts())

    def _facts(self) -> dict[str, str]:
        shown = ", ".join(self.values[:SHOWN_VALUES])
        more = self.m - SHOWN_VALUES
        facts = {
            "users": f"{self.n_users:,}",
            "items": f"{self.n_items:,}",
            "ratings": f"{self.X.nnz:,}",
            "scale": "likes" if self.scale.is_likes else str(self.scale),
            "attribute": self.attribute or "none",
        }
        if self.m:
            facts["values"] = f"{self.m:,}: {shown}" + (f" and {more:,} more" if more > 0 else "")
            facts["users who disclose it"] = f"{np.count_nonzero(self.disclosed):,}"
        if self.test_mask is not None:
            n_test = int(np.count_nonzero(self.test_mask))
            facts["split"] = f"{self.n_users - n_test:,} training users, {n_test:,} test users"
        return facts

    @property
    def n_users(self) -> int:
        """The number of users, the rows of ``X``."""
        return int(self.X.shape[0])

    @property
    def n_items(self) -> int:
        """The number of items, the columns of ``X``."""
        return int(self.X.shape[1])

    @property
    def m(self) -> int:
        """The number of values of the private attribute."""
        return len(self.values)

    @property
    def disclosed(self) -> NDArray[np.bool_]:
        """For each user: is the user's value of the attribute known?"""
        return self.y != UNDISCLOSED

    def to_arrow(self) -> pa.Table:
        """The ratings as a table: the one they came in, or user, item and rating."""
        from attriguard.data.tables.source import plain_source

        return plain_source(self).table if self.source is None else self.source.table

    def take(self, rows: ArrayLike) -> PublicData:
        """The same data for some users only: a mask or row numbers. Items and values stay as they are."""
        index = np.asarray(rows)
        if index.dtype != np.bool_:
            index = index.astype(np.int64)
        index = np.arange(self.n_users)[index]
        return replace(
            self,
            X=self.X[index],
            users=self.users[index],
            y=self.y[index],
            test_mask=None,
            source=None if self.source is None else self.source.of_users(index),
        )

    @property
    def train(self) -> PublicData:
        """The training users of a data set that comes with a split."""
        return self.take(~self._own_split())

    @property
    def test(self) -> PublicData:
        """The test users of a data set that comes with a split."""
        return self.take(self._own_split())

    def _own_split(self) -> NDArray[np.bool_]:
        if self.test_mask is None:
            raise DataError("this data comes without a split of its own; make one with data.split(...)")
        return self.test_mask

    def split(
        self, test_size: float | None = None, random_state: int | np.random.Generator | None = None
    ) -> tuple[PublicData, PublicData]:
        """Training and test users.

        Without arguments, a data set that comes with a split gives that one. Otherwise a share ``test_size``
        (default 0.1) of the users is drawn, stratified by the attribute; the same seed gives the same split.
        """
        if test_size is None and random_state is None and self.test_mask is not None:
            return self.train, self.test
        mask = stratified_test_mask(self.y, 0.1 if test_size is None else test_size, random_state)
        return self.take(~mask), self.take(mask)
