"""What stands in the other columns of new rows: times, row ids, titles, devices and hashes like those of the others."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.data.blocks import complete_users
from attriguard.data.releases.release import Release, join_releases, make_release, survey_data
from attriguard.errors import DataError

N_USERS, N_ITEMS = 60, 40
START = datetime(2021, 3, 1)


def table(seed: int = 0, share: float = 0.3) -> pd.DataFrame:
    """Likes sorted by user; each user comes on days of his own."""
    rng = np.random.default_rng(seed)
    users, items = np.nonzero(rng.random((N_USERS, N_ITEMS)) < share)
    frame = pd.DataFrame({"user": users, "item": items})
    frame["seconds"] = rng.integers(0, 200 * 86_400, users.size) + users
    return frame.sort_values(["user", "seconds"], ignore_index=True)


def stamps(frame: pd.DataFrame) -> pd.Series:
    return START + pd.to_timedelta(frame["seconds"], unit="s")


def released(given: object, *, key: bytes | None = None, **options: object) -> tuple[Release, pd.DataFrame]:
    """A release with new rows, and these rows."""
    data = ag.read_ratings(given)
    rng = np.random.default_rng(1)
    X = data.X.toarray()
    X[(X == 0) & (rng.random(X.shape) < 0.1)] = 1.0
    release = make_release(data, csr_array(X), key=key, random_state=None if key else 0, **options)
    old = set(zip(*(data.source.table[name].to_pylist() for name in ("user", "item")), strict=True))
    out = release.table.to_pandas()
    new = [pair not in old for pair in zip(out["user"], out["item"], strict=True)]
    assert 0 < sum(new) == release.summary.added
    return release, out[new]


@pytest.mark.parametrize(
    "write",
    [
        lambda when: when.dt.strftime("%Y-%m-%dT%H:%M:%S.%f").str[:-3] + "Z",
        lambda when: when.dt.strftime("%Y-%m-%d %H:%M"),
        lambda when: when.dt.strftime("%Y-%m-%d"),
        lambda when: " " + when.dt.strftime("%Y-%m-%d %H:%M:%S+02:00"),
        lambda when: (when.astype("datetime64[s]").astype("int64")).astype(str),
    ],
    ids=["milliseconds", "minutes", "days", "zone", "unix"],
)
def test_times_in_text_keep_their_spelling(write, tmp_path: Path) -> None:
    frame = table()
    frame["seconds"] = write(stamps(frame))
    frame = frame.rename(columns={"seconds": "when"})
    frame.to_csv(tmp_path / "r.csv", index=False)
    release, new = released(tmp_path / "r.csv")
    shape = frame["when"].str.replace(r"\d", "0", regex=True).unique()
    assert new["when"].str.replace(r"\d", "0", regex=True).unique().tolist() == shape.tolist()
    assert new["when"].between(frame["when"].min(), frame["when"].max()).all()
    if "Z" in shape[0]:
        assert new["when"].str.endswith(".000Z").all()  # whole seconds stay whole
    assert release.filled == {"when": "drawn from the user's own times"}


@pytest.mark.parametrize(
    ("kind", "unit"),
    [(pa.timestamp("ns", "Europe/Paris"), 60), (pa.timestamp("us"), 1), (pa.date32(), 86_400), (pa.date64(), 86_400)],
)
def test_times_keep_their_type_and_their_step(kind: pa.DataType, unit: int) -> None:
    frame = table()
    ticks = (stamps(frame).astype("datetime64[s]").astype("int64") // unit * unit).to_numpy()
    column = pa.array(ticks).cast(pa.timestamp("s")).cast(pa.timestamp("ms") if pa.types.is_date(kind) else kind)
    given = pa.table({"user": frame["user"], "item": frame["item"], "when": column.cast(kind)})
    release, new = released(given)
    assert release.table.schema == given.schema
    seconds = release.table["when"].cast(pa.timestamp("ms")).cast(pa.int64()).to_numpy() // 1_000
    assert (seconds % unit == 0).all()
    assert new["when"].notna().all()


def test_no_two_rows_of_a_user_have_one_time_unless_they_did() -> None:
    frame = table()
    for step, ties in ((1, False), (20 * 86_400, True)):
        given = frame.assign(timestamp=1_600_000_000 + frame["seconds"] // step * step).drop(columns="seconds")
        release, _ = released(given)
        out = release.table.to_pandas()
        assert out.duplicated(["user", "timestamp"]).any() == given.duplicated(["user", "timestamp"]).any() == ties


def test_users_with_one_row_and_with_none() -> None:
    rng = np.random.default_rng(0)
    n = 300
    times = 1_600_000_000 + rng.integers(0, 10**7, n)
    ratings = pa.table({"user": np.arange(n), "item": rng.integers(0, 5, n), "ts": times, "device": ["a"] * n})
    people = pa.table({"user": np.arange(n + 20), "city": ["A", "B"] * ((n + 20) // 2)})
    data = ag.read_ratings(ratings, attributes=people, unmatched="keep")
    out = make_release(data, csr_array(np.ones((n + 20, 5), dtype=np.float32)), random_state=0).table.to_pandas()
    assert len(out) == 5 * (n + 20)
    assert (out["device"] == "a").all()
    assert out["ts"].between(times.min(), times.max()).all()
    # Times of one item are spread as the item's are: no pile at any of them.
    assert np.quantile(out["ts"], [0.25, 0.75]) == pytest.approx(np.quantile(times, [0.25, 0.75]), abs=10**6)
    assert out["ts"].value_counts().max() <= 3


def test_no_row_comes_before_its_item() -> None:
    rng = np.random.default_rng(0)
    frame = table(share=0.9)
    began = rng.integers(0, 100, N_ITEMS) * 86_400
    frame = frame[frame["seconds"] >= began[frame["item"]]].reset_index(drop=True)
    first = frame.groupby("item")["seconds"].agg(["min", "size"])
    given = frame.assign(timestamp=1_600_000_000 + frame["seconds"]).drop(columns="seconds")
    _, new = released(given)
    known = new["item"].map(first["size"]) >= 20
    assert known.sum() > 50
    assert (new["timestamp"] - 1_600_000_000 >= new["item"].map(first["min"]))[known].all()


def test_a_date_is_that_of_the_time_and_other_columns_belong_together() -> None:
    frame = table()
    when = stamps(frame)
    rng = np.random.default_rng(3)
    given = pd.DataFrame(
        {
            "user": frame["user"],
            "item": frame["item"],
            "when": when,
            "date": when.dt.strftime("%Y-%m-%d"),
            "title": "title " + frame["item"].astype(str),
            "country": np.array(["FR", "DE"])[frame["user"] % 2],
            "device": rng.choice(["phone", "tablet"], len(frame)),
        }
    )
    given["system"] = given["device"].map({"phone": "android", "tablet": "ios"})
    release, new = released(given)
    assert (new["when"].dt.strftime("%Y-%m-%d") == new["date"]).all()
    assert (new["title"] == "title " + new["item"].astype(str)).all()
    assert (new["country"] == np.array(["FR", "DE"])[new["user"] % 2]).all()
    assert set(zip(new["device"], new["system"], strict=True)) == {("phone", "android"), ("tablet", "ios")}
    assert release.telltale == ()
    assert release.filled["date"] == "moved along with when"
    assert release.filled["title"] == "taken from rows of the same item"


def test_empty_cells_are_as_frequent_as_they_were() -> None:
    frame = table(share=0.6)
    when = stamps(frame).where(np.random.default_rng(0).random(len(frame)) < 0.7)
    _, new = released(frame.assign(when=when).drop(columns="seconds"))
    assert new["when"].isna().mean() == pytest.approx(0.3, abs=0.1)


@pytest.mark.parametrize("change", ["shuffled", "sparse", "padded", "random", "downwards"])
def test_row_ids(change: str, tmp_path: Path) -> None:
    frame = table()
    rng = np.random.default_rng(2)
    ids = np.arange(100, 100 + len(frame))
    if change in ("sparse", "random"):
        ids = np.sort(rng.choice(10**9, len(frame), replace=False))
    if change in ("shuffled", "random"):
        ids = rng.permutation(ids)
    frame["id"] = ids[::-1] if change == "downwards" else ids
    if change == "padded":
        frame["id"] = frame["id"].astype(str).str.zfill(8)
    frame.drop(columns="seconds").to_csv(tmp_path / "r.csv", index=False)
    release, _ = released(tmp_path / "r.csv")
    text = release.table["id"].to_pandas()
    numbers = text.astype(int).to_numpy()
    assert np.unique(numbers).size == numbers.size
    if change in ("shuffled", "padded", "downwards"):
        assert sorted(numbers) == [*range(numbers.min(), numbers.min() + numbers.size)]
    if change == "padded":
        assert (text.str.len() == 8).all()
    steps = np.diff(numbers)
    assert {"sparse": (steps > 0).all(), "downwards": (steps < 0).all()}.get(change, True)
    if change == "random":
        assert set(ids) <= set(numbers)
        assert ids.min() <= numbers.min() <= numbers.max() <= ids.max()


@pytest.mark.parametrize("order", ["user", "time"])
@pytest.mark.parametrize("holes", [0.0, 0.05])
def test_row_ids_do_not_tell_whose_row_went(order: str, holes: float) -> None:
    """Ids along the rows or along time, with and without holes: gaps are no more frequent around whose row went."""
    rng = np.random.default_rng(4)
    frame = table(share=0.6)
    frame["when"] = stamps(frame)
    ids = np.flatnonzero(rng.random(2 * len(frame)) >= holes)[: len(frame)]
    frame["id"] = ids if order == "user" else ids[frame["seconds"].rank(method="first").to_numpy().astype(int) - 1]
    data = ag.read_ratings(pa.Table.from_pandas(frame.drop(columns="seconds"), preserve_index=False))
    X = data.X.toarray()
    loser = np.arange(N_USERS) % 2 == 0
    X[(X > 0) & loser[:, None] & (rng.random(X.shape) < 0.2)] = 0.0
    release = make_release(data, csr_array(X), random_state=0)
    out = release.table.to_pandas()
    assert release.summary.removed > 100 > release.summary.added == 0
    by_id = out.sort_values("id")
    gap = by_id["id"].diff().fillna(1).to_numpy() > 1
    of_loser = loser[by_id["user"].to_numpy()]
    assert gap[of_loser].mean() == pytest.approx(gap[~of_loser].mean(), abs=0.05)
    assert gap.mean() == pytest.approx(holes, abs=0.02)
    if order == "user":
        assert (np.diff(out["id"]) > 0).all()


def test_row_ids_go_on_behind_a_block_in_which_nothing_happened() -> None:
    ids = np.cumsum(np.random.default_rng(0).integers(1, 9, 200))
    given = pa.table({"user": np.arange(200) // 10, "item": np.arange(200) % 10, "id": ids})
    first, second = ag.read_ratings(given.slice(0, 100)), ag.read_ratings(given.slice(100))
    kept = make_release(first, first.X, key=b"a secret of 16 b")
    assert kept.table.equals(given.slice(0, 100))
    X = second.X.toarray()
    X[:, 0] = 0.0
    rest = make_release(second, csr_array(X), key=b"a secret of 16 b", survey=kept.survey)
    numbers = join_releases([kept, rest]).table["id"].to_numpy()
    assert numbers.size == 190
    assert (np.diff(numbers) > 0).all()


def test_hashes_are_drawn_and_comments_are_telltale() -> None:
    frame = table().drop(columns="seconds")
    pairs = (frame["user"] * N_ITEMS + frame["item"]).astype(str)
    frame["hash"] = [hashlib.md5(pair.encode()).hexdigest() for pair in pairs]
    frame["comment"] = "I think " + pairs
    release, new = released(frame)
    assert new["hash"].str.fullmatch("[0-9a-f]{32}").all()
    assert release.table["hash"].to_pandas().is_unique
    assert release.telltale == ("comment",)
    assert new["comment"].isna().all()
    assert "comment" not in release.filled


def test_metadata_does_not_tell_how_many_rows_there_were(tmp_path: Path) -> None:
    frame = table()
    frame.attrs["rows"] = len(frame)
    given = pa.Table.from_pandas(frame)
    noted = {**given.schema.metadata, b"source": b"987 rows"}
    first = given.schema.field(0).with_metadata({"distinct": "60"})
    schema = pa.schema([first, *list(given.schema)[1:]], metadata=noted)
    pq.write_table(given.cast(schema), tmp_path / "r.parquet")
    release, _ = released(tmp_path / "r.parquet")
    release.write(tmp_path / "out.parquet")
    written = pq.read_schema(tmp_path / "out.parquet")
    assert written.equals(given.schema)
    assert set(written.metadata) == {b"pandas"}
    assert "distinct" not in str(written.field(0).metadata)
    noted = json.loads(written.metadata[b"pandas"])
    assert "attributes" not in noted
    assert noted["index_columns"][0]["stop"] == release.table.num_rows
    assert pd.read_parquet(tmp_path / "out.parquet").index.equals(pd.RangeIndex(release.table.num_rows))


@pytest.mark.parametrize("size", [7, 60, 500])
def test_blocks_of_a_table_with_every_kind_of_column_are_the_whole(size: int) -> None:
    frame = table()
    whole = frame.assign(
        when=stamps(frame), title=frame["item"] // 3, device=np.random.default_rng(0).choice(["a", "b"], len(frame))
    )
    whole["row"] = np.arange(len(frame))
    given = pa.Table.from_pandas(whole.drop(columns="seconds"), preserve_index=False)
    survey = survey_data(ag.read_ratings(given))

    def release(part: pa.Table, survey: object) -> Release:
        data = ag.read_ratings(part)
        X = np.zeros((data.n_users, N_ITEMS), dtype=np.float32)
        for u, user in enumerate(data.users.tolist()):
            own = data.items[data.X[[u]].indices]
            X[u, own] = 1.0
            X[u, np.random.default_rng(user).integers(0, N_ITEMS, 3)] = 1.0
            X[u, own[:1]] = 0.0
        return make_release(data, csr_array(X), items=np.arange(N_ITEMS), key=b"a secret of 16 b", survey=survey)

    one, parts, known = release(given, survey), [], survey
    for block in complete_users(given.to_batches(max_chunksize=size), "user"):
        parts.append(release(block, known))
        known = parts[-1].survey
    joined = join_releases(parts)
    assert joined.table.to_pylist() == one.table.to_pylist()
    assert joined.filled == one.filled
    assert joined.telltale == one.telltale == ()
    assert joined.table["row"].to_pylist() == [*range(one.table.num_rows)]


def test_columns_are_dropped_but_not_those_that_are_needed(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text('user,note,item,"stars"\n1,a,"x","5"\n2,b,"y","4"\n')
    data = ag.read_ratings(path, scale=(1, 5, 1))
    kept = replace(data, source=data.source.without(["note"]))
    assert kept.source.table.column_names == ["user", "item", "stars"]
    ag.write_release(kept, kept.X, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == '"user","item","stars"\n1,"x","5"\n2,"y","4"\n'
    for name in ("user", "stars", "nothing"):
        with pytest.raises(DataError, match=f"no column '{name}' to be dropped; columns besides the ratings: 'note'"):
            data.source.without([name])


def test_a_day_has_the_hours_of_the_user() -> None:
    """Users who come in the evening are not given rows in the morning."""
    rng = np.random.default_rng(0)
    frame = table(share=0.5)
    evening = START + pd.to_timedelta(rng.integers(0, 300, len(frame)), unit="D")
    frame["when"] = evening + pd.to_timedelta(rng.normal(20, 0.7, len(frame)), unit="h").round("s")
    _, new = released(frame.drop(columns="seconds"))
    assert new["when"].dt.hour.between(16, 23).mean() > 0.95
    assert (new["when"] <= frame["when"].max()).all()
    assert (new["when"] >= frame["when"].min() - timedelta(seconds=1)).all()
