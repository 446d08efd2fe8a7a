"""Nothing but user and item tells the rows that a release added: neither a forest nor rules that look for marks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict

import attriguard as ag
from attriguard.data.releases import release as releases
from attriguard.data.releases.chance import Draws
from attriguard.data.releases.fill import Filled
from attriguard.data.releases.orders import Rows
from attriguard.data.releases.release import Release, make_release
from attriguard.data.releases.visits import Visits

DAY = 86_400
DEVICES = np.array(["phone", "tablet", "desktop"])
ORDERS = {
    "user": ["user", "when"],
    "user and item": ["user", "item"],
    "time": ["when"],
    "newest first": ["when"],
    "item": ["item", "user"],
    "shuffled": [],
}


def visits(counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Sessions: seconds between two rows, days between two sessions."""
    gaps = np.where(rng.random(counts.sum()) < 0.75, rng.exponential(50, counts.sum()) + 1, 0)
    gaps = np.where(gaps == 0, rng.exponential(9 * DAY, counts.sum()), gaps)
    ends = np.cumsum(gaps)
    starts = np.repeat((ends - gaps)[np.cumsum(counts) - counts], counts)
    first = np.repeat(rng.integers(1_300_000_000, 1_330_000_000, counts.size), counts)
    return (first + ends - starts).astype(np.int64)


def likes_table(order: str, seed: int = 0) -> pd.DataFrame:
    """The twin's ratings as likes, with a time, a device (most users have one), a title and a row id."""
    twin = ag.load_dataset("twin", n_users=700, n_items=300, n_values=3)
    rng = np.random.default_rng(seed)
    counts = np.diff(twin.X.indptr)
    users = np.repeat(np.arange(twin.n_users), counts)
    main = rng.integers(0, 3, twin.n_users)
    frame = pd.DataFrame(
        {
            "user": users,
            "item": twin.X.indices.astype(np.int64),
            "when": visits(counts, rng),
            "device": DEVICES[np.where(rng.random(users.size) < 0.8, main[users], rng.integers(0, 3, users.size))],
        }
    )
    # A user's items come in any order of time.
    shuffled = np.lexsort((rng.random(users.size), users))
    frame["item"] = frame["item"].to_numpy()[shuffled]
    frame["title"] = "series " + (frame["item"] % 12).astype(str)
    if order == "shuffled":
        frame = frame.sample(frac=1, random_state=seed)
    else:
        frame = frame.sort_values(ORDERS[order], ascending=order != "newest first", kind="stable")
    frame["row"] = np.arange(1, users.size + 1)
    return frame.reset_index(drop=True)


@dataclass(frozen=True)
class Case:
    """A released table, its source, and which of its rows were added."""

    source: pd.DataFrame
    released: pd.DataFrame
    added: np.ndarray
    release: Release

    @classmethod
    def of(cls, source: pd.DataFrame, given: object) -> Case:
        """Add a tenth of the rows of every user, of items as frequent as the table has them: items tell nothing."""
        data = ag.read_ratings(given)
        rng = np.random.default_rng(1)
        X = data.X.toarray()
        share = (X > 0).mean(axis=0)
        count = np.floor(0.1 * (X > 0).sum(axis=1) + rng.random(data.n_users)).astype(int)
        for u in np.flatnonzero(count):
            free = np.flatnonzero(X[u] == 0)
            weight = (share / (1 - share))[free]
            X[u, rng.choice(free, count[u], replace=False, p=weight / weight.sum())] = 1.0
        release = make_release(data, csr_array(X), random_state=0)
        released = release.table.to_pandas().astype({"user": int, "item": int})
        old = set(zip(source["user"], source["item"], strict=True))
        added = np.array([pair not in old for pair in zip(released["user"], released["item"], strict=True)])
        assert added.sum() == release.summary.added == count.sum()
        return cls(source, released, added, release)

    def features(self) -> np.ndarray:
        """Everything but user and item: cells, the place in the file, and the distances to neighbours."""
        frame = self.released
        when, row = (pd.to_numeric(frame[name], errors="coerce").fillna(-1).to_numpy() for name in ("when", "row"))
        place = np.arange(len(frame))
        mine = np.lexsort((when, frame["user"]))
        own = np.empty((len(frame), 2))
        gaps = np.where(np.diff(frame["user"].to_numpy()[mine]) == 0, np.diff(when[mine]), -1)
        own[mine] = np.stack((np.append(-1, gaps), np.append(gaps, -1)), axis=1)
        first = np.append(-1, np.diff(when))
        codes = [pd.factorize(frame[name])[0] for name in ("device", "title")]
        sizes = frame.groupby("user")["item"].transform("size").to_numpy()
        next_to = (np.diff(frame["user"], prepend=-1) == 0).astype(int)
        columns = (place, when, when % DAY, row, row - place, *own.T, first, np.append(first[1:], -1), sizes, next_to)
        return np.stack((*columns, *codes), axis=1)

    def forest_auc(self) -> float:
        """How well a forest tells added rows of users that it has not seen."""
        forest = RandomForestClassifier(30, min_samples_leaf=25, max_features=0.5, random_state=0)
        folds = GroupKFold(3).split(self.features(), groups=self.released["user"])
        scores = cross_val_predict(forest, self.features(), self.added, cv=list(folds), method="predict_proba")[:, 1]
        return float(roc_auc_score(self.added, scores))

    def marks(self) -> dict[str, tuple[float, float]]:
        """Rules that an attacker would try: the share of real and of added rows that each of them catches."""
        frame, source = self.released, self.source
        numbers = pd.to_numeric(frame["row"], errors="coerce")
        key = pd.MultiIndex.from_frame(frame[["item", "title"]].astype(str))
        known = pd.MultiIndex.from_frame(source[["item", "title"]].astype(str))
        when = pd.to_numeric(frame["when"], errors="coerce")
        rules = {
            "empty": frame.isna().any(axis=1) | (frame.astype(str) == "").any(axis=1),
            "two at one time": pd.DataFrame({"u": frame["user"], "t": when}).duplicated(keep=False),
            "the time of another row": when.duplicated(keep=False) & ~when.isna(),
            "row out of sequence": numbers.diff().fillna(1) != 1,
            "row out of range": (numbers < 1) | (numbers > len(frame)),
            "another title": ~key.isin(known),
            "before the first and after the last time": ~when.between(source["when"].min(), source["when"].max()),
        }
        return {name: (float(m[~self.added].mean()), float(m[self.added].mean())) for name, m in rules.items()}


def given(frame: pd.DataFrame, form: str, folder: Path) -> object:
    if form == "frame":
        return frame
    path = folder / f"likes.{form}"
    frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)
    return path


@pytest.mark.parametrize(("order", "form"), [*zip(ORDERS, ["csv", "parquet"] * 3, strict=True)])
def test_added_rows_look_like_the_others(order: str, form: str, tmp_path: Path) -> None:
    source = likes_table(order)
    case = Case.of(source, given(source, form, tmp_path))
    assert case.release.telltale == ()
    assert set(case.release.filled) == {"when", "device", "title", "row"}
    for rule, (real, added) in case.marks().items():
        assert abs(real - added) < 0.02, rule
    released = case.released.astype({"when": int, "row": int})
    assert (released["row"] == np.arange(1, len(released) + 1)).all()
    if ORDERS[order]:
        again = released.sort_values(ORDERS[order], ascending=order != "newest first", kind="stable")
        assert (again.index == released.index).all()
    # A device is one that the user has.
    own = set(zip(source["user"], source["device"], strict=True))
    assert set(zip(released["user"], released["device"], strict=True)) == own
    auc = case.forest_auc()
    assert 0.45 <= auc <= 0.55


@pytest.mark.parametrize("how", ["empty", "evenly"])
def test_the_forest_finds_rows_that_are_filled_badly(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without cells the rows tell themselves; with times drawn evenly between two neighbours, they do so, too."""
    if how == "empty":
        monkeypatch.setattr(releases, "fill_new_rows", lambda *_: Filled())
        monkeypatch.setattr(Rows, "pair", lambda self, *_: (self.source.user_of_row, self.changes.added_users))
    else:
        monkeypatch.setattr(Visits, "_candidate", evenly)
    source = likes_table("user")
    case = Case.of(source, source)
    if how == "empty":
        assert case.marks()["empty"] == (0.0, 1.0)
    assert case.forest_auc() > (0.95 if how == "empty" else 0.6)


def evenly(visits: Visits, users: np.ndarray, draws: Draws, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Any gap of the user, and any time in it."""
    position = visits.start[users] + draws.choice("gap", np.maximum(visits.count[users] - 1, 1), k)
    inside = (visits.gaps[position] * draws.uniform("inside", k)).astype(np.int64)
    return visits.times[position] + inside, position, np.ones(users.size)
