"""Whoever has nothing but a released table cannot tell which rows were added, whatever the input's order and format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import roc_auc_score

import attriguard as ag
from attriguard.data.habits import Habits
from attriguard.data.releases.added_ratings import draw_ratings
from attriguard.data.releases.chance import Chance
from attriguard.data.releases.release import Release, make_release
from attriguard.data.tables.table import read_table
from attriguard.evaluation import forensics

N_USERS, N_ITEMS, MOST = 300, 150, 0.55
KEY = b"a secret of 16 b"
Sort = Callable[[pd.DataFrame], pd.DataFrame]
ORDERS: dict[str, Sort] = {
    "user, item": lambda frame: frame.sort_values(["user", "item"]),
    "item, user": lambda frame: frame.sort_values(["item", "user"]),
    "time": lambda frame: frame.sort_values("when"),
    "user, newest first": lambda frame: frame.sort_values(["user", "when"], ascending=[True, False]),
    "text ids": lambda frame: frame.astype({"user": str, "item": str}).sort_values(["user", "item"]),
    "row id": lambda frame: frame.sample(frac=1, random_state=1).assign(row=np.arange(1, len(frame) + 1)),
    "shuffled": lambda frame: frame.sample(frac=1, random_state=2),
}


def ratings() -> pd.DataFrame:
    """Ratings as users give them, some kinder than others, some items better, in sessions of their own."""
    rng = np.random.default_rng(0)
    popular = 1 / np.arange(4, N_ITEMS + 4)
    users, items = np.nonzero(rng.random((N_USERS, N_ITEMS)) < rng.permutation(np.minimum(8 * popular, 0.9)))
    kind, better = rng.normal(4, 0.7, N_USERS), rng.normal(0, 0.7, N_ITEMS)
    stars = np.clip(np.rint(rng.normal(kind[users] + better[items], 1)), 1, 5).astype(int)
    gaps = np.where(rng.random(users.size) < 0.7, rng.exponential(90, users.size) + 1, rng.exponential(8e5, users.size))
    first = 1_400_000_000 + rng.integers(0, 3e7, N_USERS)
    order = np.lexsort((rng.random(users.size), users))
    total = np.cumsum(gaps)
    starts = total[np.searchsorted(users, users)]
    when = np.empty(users.size, dtype=np.int64)
    when[order] = (first[users] + total - starts).astype(np.int64)
    device = np.where(rng.random(users.size) < 0.8, users % 3, rng.integers(0, 3, users.size))
    frame = pd.DataFrame({"user": users, "item": items, "stars": stars, "when": when})
    titles = "title " + (frame["item"] // 2).astype(str)
    return frame.assign(device=np.array(["phone", "tablet", "desktop"])[device], title=titles)


@pytest.fixture(scope="module")
def plain() -> pd.DataFrame:
    return ratings()


def released(source: object, *, top: bool = False, seed: int = 0, key: bytes | None = None) -> Release:
    """Add a tenth of every user's rows, of items as frequent as they are: which item it is tells nothing."""
    data = ag.read_ratings(source)
    X = data.X.toarray()
    share = (X > 0).mean(axis=0)
    for u, user in enumerate(data.users.tolist()):
        rng = np.random.default_rng([seed, int(user)])
        free = np.flatnonzero(X[u] == 0)
        weight = (share / (1 - share))[free]
        count = int(0.1 * (X[u] > 0).sum() + rng.random())
        X[u, rng.choice(free, count, replace=False, p=weight / weight.sum())] = 1.0
    chance, habits, after = Chance.of(None if key else seed, key), Habits.of(data.X, data.scale.levels), csr_array(X)
    if habits is not None and not top:
        after = draw_ratings(data, data.X, after, data.items, chance, habits)
    return make_release(data, after, random_state=None if key else seed, key=key)


def examined(table: pa.Table, added: np.ndarray) -> forensics.Forensics:
    found = forensics.examine(
        table, added, user="user", item="item", rating="stars" if "stars" in table.column_names else None
    )
    assert found is not None
    assert found.added == added.sum() > 300
    return found


@pytest.mark.parametrize("columns", ["likes", "ratings", "all columns"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("order", ORDERS)
def test_no_clue_tells_added_rows(order: str, form: str, columns: str, plain: pd.DataFrame, tmp_path: Path) -> None:
    frame = ORDERS[order](plain).reset_index(drop=True)
    dropped = {"likes": ["stars", "when", "device", "title"], "ratings": ["when", "device", "title"], "all columns": []}
    frame = frame.drop(columns=dropped[columns])
    path, out = tmp_path / f"r.{form}", tmp_path / f"out.{form}"
    frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)
    release = released(path)
    release.write(out)
    table = read_table(out).table
    found = examined(table, release.added)
    assert found.auc <= MOST, found
    assert forensics.metadata_notes(table) == []
    # The order is said to be another one exactly where the columns do not tell it.
    hidden = "when" not in frame and order in ("time", "user, newest first")
    assert bool(release.order_note) == (hidden or order in ("shuffled", "row id"))


@pytest.mark.parametrize(
    ("mark", "least", "clue"),
    [
        ("at the user's end", 0.9, "it breaks the order of rows"),
        ("at the end of users without order", 0.9, "it stands behind the user's other rows"),
        ("anywhere", 0.9, "it breaks the order of rows"),
        ("empty cells", 0.99, "it has empty cells"),
        ("top ratings", 0.6, "its rating is high for the user"),
        ("other spelling", 0.99, "it is written in another way"),
        ("the user's first time", 0.9, "when is that of another row of the user"),
        ("milliseconds", 0.9, "when is of a finer step"),
        ("ids at the end", 0.9, "it breaks the order of rows"),
        ("ids twice", 0.9, "its row id is odd"),
        ("another device", 0.9, "neither its user nor its item has its cells elsewhere"),
    ],
)
def test_every_mark_is_found(mark: str, least: float, clue: str, plain: pd.DataFrame) -> None:
    """What releases once did, and what they could do wrong: each clue finds what it is for."""
    frame = plain.sort_values(["user", "item"], ignore_index=True)
    release = released(frame, top=mark == "top ratings")
    table = release.table.to_pandas().assign(added=release.added, row=np.arange(release.table.num_rows))
    added = table["added"].to_numpy()
    rng = np.random.default_rng(0)
    if mark == "at the user's end":
        table = table.sort_values(["user", "added"], kind="stable")
    elif mark == "at the end of users without order":
        table = table.assign(row=rng.random(len(table))).sort_values(["user", "added", "row"]).drop(columns="row")
    elif mark == "anywhere":
        table = table.assign(row=table["row"].where(~added, rng.random(len(table)) * len(table))).sort_values("row")
        table = table.drop(columns="row")
    elif mark == "empty cells":
        table["device"] = table["device"].where(~added)
    elif mark == "other spelling":
        table["stars"] = table["stars"].astype(str).where(~added, table["stars"].astype(str) + ".0")
    elif mark == "the user's first time":
        table["when"] = table["when"].where(~added, table["user"].map(table[~added].groupby("user")["when"].min()))
    elif mark == "milliseconds":
        table["when"] = table["when"] * 1000 + np.where(added, rng.integers(1, 1000, len(table)), 0)
    elif mark == "ids at the end":
        table["row"] = table["row"].where(~added, 10**6 + table["row"])
    elif mark == "ids twice":
        table["row"] = np.where(added, np.roll(table["row"], 7), table["row"])
    elif mark == "another device":
        table["device"] = table["device"].where(~added, "browser " + pd.Series(np.arange(len(table)) % 200).astype(str))
    added = table.pop("added").to_numpy(dtype=bool)
    found = examined(pa.Table.from_pandas(table, preserve_index=False), added)
    assert found.clues[clue] >= least, found
    assert found.auc >= least
    together = forensics.suspicion(
        pa.Table.from_pandas(table, preserve_index=False), user="user", item="item", rating="stars"
    )
    assert forensics.auc(together, added) >= 0.6


def test_two_releases_under_a_key_differ_in_nothing_but_who_left(plain: pd.DataFrame) -> None:
    frame = plain.sort_values(["user", "when"], ignore_index=True)
    # The items that are added depend on who is there; so the users' rows are taken from the release of all.
    one = released(frame, key=KEY)
    data = ag.read_ratings(frame)
    stayed = frame[frame["user"] != 7].reset_index(drop=True)
    X = ag.read_ratings(one.table).X
    left = ag.read_ratings(stayed)
    two = make_release(left, X[np.flatnonzero(data.users != 7)], items=data.items, key=KEY)
    for scores in forensics.difference(one.table, two.table, user="user", item="item").values():
        assert not scores.any()
    # Two releases that are drawn anew tell nearly all of the added rows.
    three = released(frame, seed=1)
    differing = forensics.difference(one.table, three.table, user="user", item="item")
    assert forensics.auc(differing["another release lacks the row"], one.added) > 0.8
    alone, both = (
        forensics.suspicion(one.table, user="user", item="item", rating="stars", other=other)
        for other in (None, three.table)
    )
    assert forensics.auc(both, one.added) > forensics.auc(alone, one.added) + 0.2


def test_a_row_that_stands_elsewhere_in_another_release_is_found() -> None:
    one = pa.table({"user": [1, 1, 1, 1, 2], "item": [1, 2, 3, 4, 1]})
    two = one.take([0, 2, 3, 1, 4])
    found = forensics.difference(one, two, user="user", item="item")
    assert found["another release has the row elsewhere"].tolist() == [0, 1, 0, 0, 0]
    assert not found["another release lacks the row"].any()
    lacking = forensics.difference(one, one.slice(1, 3), user="user", item="item")
    assert lacking["another release lacks the row"].tolist() == [1, 0, 0, 0, 0]  # user 2 has left


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2))
def test_the_auc_is_that_of_scikit_learn(pairs: list[tuple[int, bool]]) -> None:
    scores, added = (np.array(column) for column in zip(*pairs, strict=True))
    if 0 < added.sum() < added.size:
        assert forensics.auc(scores.astype(float), added) == pytest.approx(roc_auc_score(added, scores))


@given(st.lists(st.integers(0, 9), max_size=12))
def test_the_longest_run_is_one(ranks: list[int]) -> None:
    """Against all subsequences."""
    outside = forensics._outside(np.array(ranks, dtype=np.int64))
    kept = [rank for rank, out in zip(ranks, outside.tolist(), strict=True) if not out]
    assert kept == sorted(kept)
    longest = max(
        bin(mask).count("1")
        for mask in range(2 ** len(ranks))
        if (chosen := [rank for k, rank in enumerate(ranks) if mask >> k & 1]) == sorted(chosen)
    )
    assert len(kept) == longest


def test_metadata_that_speaks_of_other_rows_is_found(plain: pd.DataFrame) -> None:
    table = pa.Table.from_pandas(plain)
    assert forensics.metadata_notes(table) == []
    assert forensics.metadata_notes(table.slice(5)) == [f"the metadata speaks of {len(plain):,} rows"]


def test_no_added_row_says_nothing(plain: pd.DataFrame) -> None:
    table = pa.Table.from_pandas(plain)
    assert forensics.examine(table, np.zeros(table.num_rows, dtype=bool), user="user", item="item") is None


def test_the_check_says_how_well_added_rows_are_told(tmp_path: Path) -> None:
    data = ag.load_dataset("twin", n_users=500, n_items=80, n_values=2)

    def protected(**options: object) -> ag.Released:
        return ag.protect(data, budget=2.0, key=KEY, **options)

    marked = protected(goal="mislead", added_ratings="top")
    found = marked.check.forensics
    assert found is not None
    assert found.added == marked.summary.added
    assert found.auc > 0.6
    assert any("can be told with AUC" in line and found.by in line for line in marked.warnings)
    assert f"Which rows were added can be told with AUC {found.auc:.3f}" in marked.headline
    assert marked.record()["check"]["added_rows"]["by"] == found.by
    assert "What tells most" in marked.save(tmp_path / "page.html").read_text()
    assert "added_rows_auc" in [row["figure"] for row in marked.rows()]
    drawn = protected(goal="mislead", added_ratings="drawn")
    assert drawn.check.forensics is not None
    assert drawn.check.forensics.auc < found.auc - 0.05
    # The default goal adds no row, and nothing is said.
    plain = protected()
    assert plain.check.forensics is None
    assert not [line for line in (*plain.warnings, plain.headline) if "added can be told" in line]
    assert plain.record()["check"]["added_rows"] is None
