"""A ledger with a release in parts: the release and the ledger of `ag.protect`, part by part, and after any kill."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from conftest_engines import KEY, by_user_and_item, text_of

import attriguard as ag
from attriguard.engines import embedded, maker, parts
from attriguard.engines import spark as spark_engine
from attriguard.errors import DataError, ParameterError
from attriguard.ledger import files, store
from attriguard.ledger.hashes import bucket_of, user_hashes
from attriguard.ledger.store import Ledger

MONTHS = ("may", "june", "july")


def grown(table):
    """Three months of a table: most of its rows, some more of some users, all of them."""
    rng = np.random.default_rng(3)
    user = table["user"].to_numpy()
    arrives = np.where(rng.random(table.num_rows) < 0.6, 0, np.where(user % 3 == 0, 1, 2))
    return {month: table.filter(pa.array(arrives <= k)) for k, month in enumerate(MONTHS)}


def parts_of(folder: Path) -> pa.Table:
    assert (folder / "_SUCCESS").exists()
    assert not (folder / ".attriguard-work").exists()
    return pa.concat_tables(pq.read_table(path).replace_schema_metadata() for path in sorted(folder.glob("part-*")))


def content(folder: Path):
    """All that a ledger says, whatever its files are."""
    found = Ledger.open(folder, KEY.encode(), "city").entries
    names = found.names[found.item]
    columns = (found.user, names, found.own, found.told, found.draw, found.release)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("kind", ["plain", "wide"])
@pytest.mark.parametrize("n", [1, 7])
def test_parts_are_the_release_and_the_ledger_of_the_whole_table(kind, n, guard, tmp_path, request):
    for month, table in grown(request.getfixturevalue(kind)).items():
        pq.write_table(table, tmp_path / f"{month}.parquet")
        whole = ag.protect(table, guard, key=KEY, ledger=tmp_path / "whole", order="sorted")
        whole.save(tmp_path / f"{month}-whole.parquet")
        made = ag.protect_files(
            tmp_path / f"{month}.parquet", guard, tmp_path / month, key=KEY, ledger=tmp_path / "parts", parts=n
        )
        assert by_user_and_item(parts_of(tmp_path / month)) == by_user_and_item(whole.table)
        assert content(tmp_path / "parts") == content(tmp_path / "whole")
        assert made.remarks[0] == whole.remarks[0]
    cards = [ag.check_ledger(tmp_path / name, key=KEY, guard=guard) for name in ("whole", "parts")]
    assert cards[0].counts == cards[1].counts
    for one, other in zip(*(card.releases for card in cards), strict=True):
        assert dict(one) == pytest.approx(dict(other))


def test_a_ledger_goes_from_memory_to_parts_and_back(guard, plain, tmp_path):
    """From whatever it was written, and in CSV as in Parquet: ids are the same text everywhere."""
    ways = {}
    for month, table in grown(plain).items():
        pyarrow.csv.write_csv(table, tmp_path / f"{month}.csv")
        ways[month] = ag.protect(table, guard, key=KEY, ledger=tmp_path / "memory")
        ways[month].save(tmp_path / "out.parquet")
        if month == "june":
            ag.protect_files(tmp_path / "june.csv", guard, tmp_path / month, key=KEY, ledger=tmp_path / "l", parts=3)
            made = pa.concat_tables(text_of(path) for path in sorted((tmp_path / month).glob("part-*")))
        else:
            released = ag.protect(tmp_path / f"{month}.csv", guard, key=KEY, ledger=tmp_path / "l")
            released.save(tmp_path / f"{month}-out.csv")
            made = text_of(tmp_path / f"{month}-out.csv")
        assert by_user_and_item(made) == by_user_and_item(ways[month].table)
    assert content(tmp_path / "l") == content(tmp_path / "memory")


def test_a_part_reads_its_own_users_alone(guard, plain, tmp_path, monkeypatch):
    """Of a ledger that was written as one file with many groups of rows, a part of ten reads about a tenth."""
    monkeypatch.setattr(files, "GROUP_ROWS", 50)
    for month, table in list(grown(plain).items())[:2]:
        pq.write_table(table, tmp_path / f"{month}.parquet")
    ag.protect(tmp_path / "may.parquet", guard, key=KEY, ledger=tmp_path / "l").save(tmp_path / "out.parquet")
    rows = sum(int(each["rows"]) for each in Ledger.open(tmp_path / "l", KEY.encode(), "city").state.files)
    read, whole = [], pq.ParquetFile.read_row_groups

    def counted(self, groups, **options):
        table = whole(self, groups, **options)
        if "told" in table.column_names:
            read.append(table.num_rows)
        return table

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", counted)
    ag.protect_files(tmp_path / "june.parquet", guard, tmp_path / "june", key=KEY, ledger=tmp_path / "l", parts=10)
    assert rows <= sum(read) < 1.8 * rows  # the neighbours' rows of a group are read, too
    assert max(read) < 0.25 * rows


def test_buckets_are_ranges_of_the_ledgers_hashes(guard, data, plain, tmp_path, monkeypatch):
    pq.write_table(plain, tmp_path / "r.parquet")
    seen, made = {}, maker.Maker.make

    def make(self, k):
        seen[k] = set(self.buckets.block(k).table["user"].to_pylist())
        return made(self, k)

    monkeypatch.setattr(maker.Maker, "make", make)
    ag.protect_files(tmp_path / "r.parquet", guard, tmp_path / "out", key=KEY, ledger=tmp_path / "l", parts=5)
    key = Ledger.open(tmp_path / "l", KEY.encode(), "city").key
    bucket = bucket_of(user_hashes(data.users, key), 5)
    assert seen == {k: set(data.users[bucket == k].tolist()) for k in range(5)}


def test_one_user_of_a_release_in_parts_is_forgotten(guard, data, plain, tmp_path):
    pq.write_table(plain, tmp_path / "r.parquet")
    ag.protect_files(tmp_path / "r.parquet", guard, tmp_path / "out", key=KEY, ledger=tmp_path / "l", parts=4)
    before = content(tmp_path / "l")
    erased = ag.forget_user(tmp_path / "l", data.users[5], key=KEY)
    (mark,) = user_hashes(data.users[5:6], Ledger.open(tmp_path / "l", KEY.encode(), "city").key)
    assert content(tmp_path / "l") == [row for row in before if row[0] != mark]
    assert len(before) - len(content(tmp_path / "l")) == erased > 0


def test_a_run_on_a_ledger_that_has_changed_is_refused(guard, plain, tmp_path, monkeypatch):
    pq.write_table(plain, tmp_path / "r.parquet")
    given = {"key": KEY, "ledger": tmp_path / "l", "parts": 3}
    with monkeypatch.context() as broken:
        broken.setattr(embedded, "entry_of", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ag.protect_files(tmp_path / "r.parquet", guard, tmp_path / "out", **given)
    ag.protect(plain, guard, key=KEY, ledger=tmp_path / "l").save(tmp_path / "other.parquet")
    with pytest.raises(DataError, match="another ledger, or one that has changed since"):
        ag.protect_files(tmp_path / "r.parquet", guard, tmp_path / "out", **given)


@pytest.mark.parametrize("inside", [".", "told"])
def test_a_ledger_is_not_published_with_its_release(inside, guard, plain, tmp_path):
    pq.write_table(plain, tmp_path / "r.parquet")
    with pytest.raises(ParameterError, match="would be published with the release"):
        ag.protect_files(tmp_path / "r.parquet", guard, tmp_path / "out", key=KEY, ledger=tmp_path / "out" / inside)
    assert not list((tmp_path / "out").rglob("part-*"))


KILLED = """
import sys
import attriguard as ag
month, guard, key, folder, parts = sys.argv[1:]
ag.protect_files(f"{month}.parquet", guard, folder, key=key, ledger="l", parts=int(parts))
"""
# Moments at which the command is killed; more of them: ATTRIGUARD_KILLS=20.
KILLS = int(os.environ.get("ATTRIGUARD_KILLS", "4"))


@pytest.fixture
def months(plain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for month, table in grown(plain).items():
        pq.write_table(table, tmp_path / f"{month}.parquet")


@pytest.mark.posix
def test_a_release_in_parts_that_is_killed_agrees_with_its_ledger_and_goes_on(guard, months, tmp_path):
    """SIGKILL at random moments; the ledger has the release if it is whole, and the resumed run ends in the same."""
    chance = random.Random(os.environ.get("PYTEST_XDIST_TESTRUNUID", "kills"))
    once = [sys.executable, "-c", KILLED, "may", str(guard), KEY, "may", "6"]
    began = time.perf_counter()
    subprocess.run(once, check=True)
    took = time.perf_counter() - began
    whole = ag.protect(pq.read_table("may.parquet"), guard, key=KEY, ledger="memory")
    whole.save("may-whole.parquet")
    second = ag.protect(pq.read_table("june.parquet"), guard, key=KEY, ledger="memory")
    second.save("june-whole.parquet")
    command = [sys.executable, "-c", KILLED, "june", str(guard), KEY, "june", "6"]
    killed = 0
    for moment in sorted(chance.uniform(0.2, 1.0) for _ in range(KILLS)):  # the first comes before the run can end
        run = subprocess.Popen(command)
        try:
            run.wait(moment * took)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
            killed += 1
        entered = len(ag.describe_ledger("l").releases) == 2
        manifest = Path("june/_manifest.json")
        assert entered == (manifest.exists() and '"totals"' in manifest.read_text())
    assert killed
    subprocess.run(command, check=True)
    assert by_user_and_item(parts_of(Path("june"))) == by_user_and_item(second.table)
    assert content(tmp_path / "l") == content(tmp_path / "memory")


@pytest.mark.parametrize("moment", ["before the manifest", "behind the manifest", "behind the ledger"])
def test_a_kill_at_the_end_of_a_release_in_parts(moment, guard, months, tmp_path, monkeypatch):
    """The three moments that matter: with the manifest, the release stands, and with it the ledger."""
    given = {"key": KEY, "ledger": tmp_path / "l", "parts": 3}

    class Killed(BaseException):
        pass

    def die(*_):
        raise Killed

    def write(path, content, whole=None, write=parts._write):
        return write(path, content, lambda beside: whole(beside) or die()) if whole else write(path, content)

    with monkeypatch.context() as broken:
        if moment == "before the manifest":
            broken.setattr(parts, "_write", write)
        elif moment == "behind the manifest":
            broken.setattr(store, "_commit", die)
        else:
            broken.setattr(parts.Parts, "close", die)
        with pytest.raises(Killed):
            ag.protect_files("may.parquet", guard, "may", **given)
    assert Ledger.open(tmp_path / "l", KEY.encode(), "city").number == (moment != "before the manifest")
    ag.protect_files("may.parquet", guard, "may", **given)
    whole = ag.protect(pq.read_table("may.parquet"), guard, key=KEY, ledger=tmp_path / "memory")
    whole.save("may-whole.parquet")
    assert by_user_and_item(parts_of(Path("may"))) == by_user_and_item(whole.table)
    assert content(tmp_path / "l") == content(tmp_path / "memory")
    assert len(ag.describe_ledger(tmp_path / "l").releases) == 1


@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")
def test_spark_makes_the_same_release_and_the_same_ledger(spark, guard, wide, tmp_path, monkeypatch):
    """By files into a folder, and as a DataFrame that is entered when its rows are written."""
    monkeypatch.chdir(tmp_path)
    for month, table in list(grown(wide).items())[:2]:
        table = table.set_column(4, "title", table["title"].cast(pa.string()))
        pq.write_table(table, f"{month}.parquet")
        whole = ag.protect(table, guard, key=KEY, ledger="memory")
        whole.save(f"{month}-whole.parquet")
        rows = spark.read.parquet(str(tmp_path / f"{month}.parquet"))
        frame = ag.spark.protect(rows, guard, key=KEY, ledger=tmp_path / "frames", partitions=3)
        with pytest.raises(DataError, match="partitions of this release have not been made"):
            spark_engine._PLANNED[frame].enter()
        rows = frame.toArrow()
        ag.spark.enter(frame)
        with pytest.raises(ParameterError, match="was entered already"):
            ag.spark.enter(frame)
        ag.protect_files(f"{month}.parquet", guard, month, key=KEY, ledger="spark", engine="spark", parts=4)
        expected = by_user_and_item(whole.table.set_column(3, "when", whole.table["when"].cast("timestamp[us]")))
        for made in (rows, parts_of(Path(month))):
            made = made.set_column(3, "when", made["when"].cast("timestamp[us]"))
            assert by_user_and_item(made) == expected
        assert content(tmp_path / "frames") == content(tmp_path / "memory")
        assert content(tmp_path / "spark") == content(tmp_path / "memory")
        assert not list((tmp_path / "frames").glob(".attriguard-run-*"))
