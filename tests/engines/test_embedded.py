"""A release in parts is the release of the whole table, wherever the table lies and however it is divided."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from conftest_engines import KEY, by_user_and_item, text_of, whole_of

import attriguard as ag
from attriguard.data import files
from attriguard.engines import buckets, duck, embedded, maker, processes
from attriguard.engines.duck import NoSpaceError, memory_bytes
from attriguard.errors import DataError, MissingExtraError, ParameterError


def released(folder: Path) -> pa.Table:
    assert (folder / "_SUCCESS").exists()
    found = sorted(folder.glob("part-*"))
    tables = [pq.read_table(path) if path.suffix == ".parquet" else text_of(path) for path in found]
    return pa.concat_tables(tables, promote_options="default")


def lay(table: pa.Table, how: str, folder: Path) -> str:
    """Put a table on the disk in one of the ways that people do."""
    half = table.num_rows // 2
    pieces = [table.slice(half), table.slice(0, half)]
    if how in ("csv", "csv.gz", "tsv"):
        content = csv_bytes(table, "\t" if how == "tsv" else ",")
        path = folder / f"ratings.{how}"
        path.write_bytes(gzip.compress(content) if how.endswith("gz") else content)
        return str(path)
    if how == "parquet":
        pq.write_table(table, folder / "ratings.parquet", row_group_size=500)
        return str(folder / "ratings.parquet")
    if how in ("folder", "glob"):
        (folder / "ratings" / "year=2020").mkdir(parents=True)
        pq.write_table(pieces[0], folder / "ratings" / "b.parquet")
        pq.write_table(pieces[1], folder / "ratings" / "year=2020" / "a.parquet")
        (folder / "ratings" / "_SUCCESS").touch()
        return str(folder / "ratings") if how == "folder" else str(folder / "ratings" / "**" / "*.parquet")
    if how == "csv folder":
        (folder / "ratings").mkdir()
        (folder / "ratings" / "1.csv").write_bytes(csv_bytes(pieces[0], ","))
        (folder / "ratings" / "2.csv.gz").write_bytes(gzip.compress(csv_bytes(pieces[1], ",")))
        return str(folder / "ratings")
    if how == "duckdb":
        with duckdb.connect(str(folder / "shop.duckdb")) as connection:
            connection.register("given", table)
            connection.execute('CREATE TABLE "my ratings" AS SELECT * FROM given')
        return str(folder / "shop.duckdb:my ratings")
    with sqlite3.connect(folder / "shop.db") as connection:
        connection.execute(f"CREATE TABLE ratings ({', '.join(table.column_names)})")
        marks = ", ".join("?" * table.num_columns)
        connection.executemany(f"INSERT INTO ratings VALUES ({marks})", zip(*table.to_pydict().values(), strict=True))
    connection.close()
    return str(folder / "shop.db:ratings")


def csv_bytes(table: pa.Table, delimiter: str) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
    flat = pa.table([column.cast(pa.string()) for column in table.columns], names=table.column_names)
    pa.csv.write_csv(flat, sink, options)
    return sink.getvalue().to_pybytes()


WAYS = ["csv", "csv.gz", "tsv", "parquet", "folder", "glob", "csv folder", "duckdb", "sqlite"]


@pytest.mark.parametrize("how", WAYS)
def test_wherever_the_table_lies_its_parts_are_the_whole_release(how, plain, guard, tmp_path):
    result = ag.protect_files(lay(plain, how, tmp_path), guard, tmp_path / "out", key=KEY, parts=3)
    got, expected = released(tmp_path / "out"), whole_of(plain, guard)
    assert by_user_and_item(got) == by_user_and_item(expected)
    if "csv" not in how and how != "tsv":
        assert got.schema.equals(expected.schema)
    summary = ag.protect(plain, guard, key=KEY).summary
    assert (result.totals["added"], result.totals["removed"]) == (summary.added, summary.removed)
    assert result.totals["added"] > 0
    assert result.totals["users"] == len(plain["user"].unique())
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "_SUCCESS", "_manifest.json", *(path.name for path in (tmp_path / "out").glob("part-*"))
    }  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("goal", ["mislead", "conceal"])
def test_any_number_of_parts_gives_the_same_release(n, goal, plain, data, tmp_path):
    guard = ag.learn(data, goal=goal, members=1, budget=2.0, random_state=0)
    source = lay(plain, "parquet", tmp_path)
    result = ag.protect_files(source, guard, tmp_path / "out", key=KEY, parts=n, memory="300MB")
    expected = ag.protect(plain, guard, key=KEY)
    assert by_user_and_item(released(tmp_path / "out")) == by_user_and_item(expected.table)
    assert any("learnt from" in line for line in result.warnings) == any(
        "learnt from" in line for line in expected.warnings
    )


@pytest.mark.parametrize("how", ["parquet", "csv", "duckdb"])
def test_other_columns_are_the_same_in_any_division_and_any_order_of_rows(how, wide, guard, tmp_path):
    expected = whole_of(wide, guard)
    shuffled = wide.take(pa.array(np.random.default_rng(5).permutation(wide.num_rows)))
    for k, (table, n) in enumerate([(wide, 1), (shuffled, 4)]):
        folder = tmp_path / str(k)
        folder.mkdir()
        ag.protect_files(lay(table, how, folder), guard, folder / "out", key=KEY, parts=n)
        assert by_user_and_item(released(folder / "out")) == by_user_and_item(expected)
        if how == "parquet":
            assert released(folder / "out").schema.equals(expected.schema)


def test_a_sample_judges_the_columns_of_a_larger_table(wide, guard, tmp_path, monkeypatch):
    """Only some users are sampled, and one row of each item: still no division and no order matters."""
    monkeypatch.setattr(buckets, "SAMPLE_ROWS", wide.num_rows // 3)
    seen = []
    for k, n in enumerate([1, 5]):
        folder = tmp_path / str(k)
        folder.mkdir()
        rows = wide.take(pa.array(np.random.default_rng(k).permutation(wide.num_rows)))
        ag.protect_files(lay(rows, "folder", folder), guard, folder / "out", key=KEY, parts=n)
        seen.append(released(folder / "out"))
    assert by_user_and_item(seen[0]) == by_user_and_item(seen[1])
    titles = {(row["item"], row["title"]) for row in seen[0].to_pylist()}
    assert titles == {(item, f"title {item}") for item, _ in titles}


def test_batches_with_a_sample_are_parts_of_the_same_release(wide, guard):
    grouped = wide.sort_by([("user", "ascending"), ("item", "descending")])
    expected = by_user_and_item(whole_of(wide, guard))
    for size in (100, 5000):
        batches = ag.protect_batches(grouped.to_batches(max_chunksize=size), guard, key=KEY, sample=wide)
        assert by_user_and_item(pa.Table.from_batches(batches)) == expected
    with pytest.raises(ParameterError, match=r"other columns .*\(when, title, device, token\).* sample="):
        list(ag.protect_batches(grouped.to_batches(), guard, key=KEY))
    dropped = ["when", "title", "device", "token"]
    batches = ag.protect_batches(grouped.to_batches(), guard, key=KEY, drop_columns=dropped)
    assert pa.Table.from_batches(batches).column_names == ["user", "item", "rating"]


def test_row_numbers_are_refused(plain, guard, tmp_path):
    numbered = plain.append_column("id", pa.array(np.arange(plain.num_rows) * 3))
    source = lay(numbered, "parquet", tmp_path)
    with pytest.raises(DataError, match=r"column 'id' numbers the rows.*--drop-columns"):
        ag.protect_files(source, guard, tmp_path / "out", key=KEY)
    ag.protect_files(source, guard, tmp_path / "other", key=KEY, drop_columns=["id"])
    assert by_user_and_item(released(tmp_path / "other")) == by_user_and_item(whole_of(plain, guard))


def test_a_budget_of_everyone_needs_a_settled_price(data, plain, tmp_path):
    guard = ag.learn(data, goal="conceal", members=1, budget=2.0, budget_over="everyone", random_state=0)
    guard.price_ = None
    for work in (
        lambda: ag.protect_batches(plain.to_batches(), guard, key=KEY),
        lambda: ag.protect_files(lay(plain, "parquet", tmp_path), guard, tmp_path / "out", key=KEY),
    ):
        with pytest.raises(ParameterError, match=r"no settled price .* guard.settle"):
            work()
    guard.settle(data.X)
    ag.protect_files(lay(plain, "parquet", tmp_path), guard, tmp_path / "out", key=KEY, parts=3)
    expected = by_user_and_item(ag.protect(plain, guard, key=KEY).table)
    assert by_user_and_item(released(tmp_path / "out")) == expected
    with pytest.raises(ParameterError, match="no settled price"):
        ag.protect_batches(plain.to_batches(), guard, key=KEY, budget=3.0)


def test_the_manifest_tells_the_release_and_not_the_key(plain, guard, tmp_path):
    ag.protect_files(lay(plain, "parquet", tmp_path), guard, tmp_path / "out", key=KEY, parts=2, budget=1.0)
    text = (tmp_path / "out" / "_manifest.json").read_text()
    found = json.loads(text)
    assert found["guard_sha256"] == hashlib.sha256(guard.read_bytes()).hexdigest()
    assert found["options"]["budget"] == 1.0
    assert found["input"][0]["file"] == "ratings.parquet"
    for part in found["files"]:
        path = tmp_path / "out" / part["file"]
        assert part["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert part["rows"] == pq.read_metadata(path).num_rows
    assert KEY not in text
    assert KEY.encode().hex() not in text
    assert str(tmp_path) not in text


class Killed(BaseException):
    """In place of a kill: nothing of ours catches it."""


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_a_run_that_is_killed_anywhere_goes_on_to_the_same_parts(wide, guard, tmp_path, monkeypatch):
    source = lay(wide, "parquet", tmp_path)
    ag.protect_files(source, guard, tmp_path / "whole", key=KEY, parts=4)
    expected = hashes(tmp_path / "whole")
    moments = []
    monkeypatch.setattr(files, "before_rename", lambda beside, path: moments.append(path.name))
    ag.protect_files(source, guard, tmp_path / "counted", key=KEY, parts=4)
    assert len(moments) > 8
    for moment in range(len(moments)):
        folder = tmp_path / f"killed {moment}"
        left = iter(range(moment + 1))

        def die(beside, path, left=left, moment=moment):
            if next(left, None) == moment:
                raise Killed

        monkeypatch.setattr(files, "before_rename", die)
        with pytest.raises(Killed):
            ag.protect_files(source, guard, folder, key=KEY, parts=4)
        assert not (folder / "_SUCCESS").exists() or moment == len(moments) - 1
        monkeypatch.setattr(files, "before_rename", lambda beside, path: None)
        ag.protect_files(source, guard, folder, key=KEY, parts=4)
        assert hashes(folder) == expected


def test_a_part_that_was_damaged_is_made_again_and_the_others_are_not(plain, guard, tmp_path, monkeypatch):
    source, made = lay(plain, "parquet", tmp_path), []
    make = maker.Maker.make

    def counted(self, k):
        if len(made) == 3:
            raise Killed
        made.append(k)
        return make(self, k)

    monkeypatch.setattr(maker.Maker, "make", counted)
    with pytest.raises(Killed):
        ag.protect_files(source, guard, tmp_path / "out", key=KEY, parts=4)
    (tmp_path / "out" / "part-00001.parquet").write_bytes(b"cut")
    made[:] = []
    monkeypatch.setattr(maker.Maker, "make", lambda self, k: made.append(k) or make(self, k))
    ag.protect_files(source, guard, tmp_path / "out", key=KEY)
    assert made == [1, 3]
    made[:] = []
    again = ag.protect_files(source, guard, tmp_path / "out", key=KEY)
    assert made == []
    assert again.totals["users"] == len(plain["user"].unique())


def test_another_guard_option_key_or_input_is_refused_by_name(plain, guard, data, tmp_path):
    source, out = lay(plain, "parquet", tmp_path), tmp_path / "out"
    ag.protect_files(source, guard, out, key=KEY)
    other = ag.learn(data, budget=3.0, random_state=3)
    for change, said in (
        ({"key": "another secret of 16 bytes"}, "another key;"),
        ({"budget": 1.5}, r"another budget \(None, now 1.5\)"),
        ({"order": "shuffled", "most": 3}, r"another most \(None, now 3\) and order \(keep, now shuffled\)"),
        ({"locked": [1, 2]}, "another locked"),
        ({"guard": other}, "another guard;"),
        ({"parts": 3}, "1 part, not 3"),
    ):
        options = {"key": KEY, "guard": guard, **change}
        with pytest.raises(DataError, match=said):
            ag.protect_files(source, options.pop("guard"), out, **options)
    pq.write_table(plain.slice(1), source)
    with pytest.raises(DataError, match=r"another input \(ratings.parquet\)"):
        ag.protect_files(source, guard, out, key=KEY)


def test_mistakes_are_told_before_the_work(plain, guard, tmp_path, monkeypatch):
    source, out = lay(plain, "folder", tmp_path), tmp_path / "out"
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "letter.txt").write_text("dear")
    for given, options, said in (
        (source, {}, "needs a key.*attriguard key new"),
        (source, {"key": KEY, "memory": "many"}, "memory must be a number with a unit"),
        (source, {"key": KEY, "memory": "1MB"}, "at least 200MB"),
        (source, {"key": KEY, "duplicates": "last"}, "none is the last"),
        (source, {"key": KEY, "attributes": "users.csv"}, "attributes is of no use"),
        (tmp_path / "nowhere", {"key": KEY}, "there is no file"),
        (tmp_path / "nowhere*.csv", {"key": KEY}, "there is no table"),
    ):
        with pytest.raises((DataError, ParameterError), match=said):
            ag.protect_files(given, guard, out, **options)
    for given, said in (
        (tmp_path / "ratings", "holds the table itself"),
        (tmp_path / "ratings" / "new", "is inside the table's folder"),
        (tmp_path / "strange", "is not empty"),
    ):
        with pytest.raises((DataError, ParameterError), match=said):
            ag.protect_files(source, guard, given, key=KEY)
    assert [path.name for path in (tmp_path / "strange").iterdir()] == ["letter.txt"]
    foreign = plain.set_column(1, "item", pa.array([f"book {k}" for k in plain["item"].to_pylist()]))
    with pytest.raises(DataError, match="knows 0 of the table's"):
        ag.protect_files(lay(foreign, "parquet", tmp_path), guard, tmp_path / "foreign", key=KEY)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'attriguard\[bulk\]'"):
        ag.protect_files(source, guard, out, key=KEY)


def test_files_that_do_not_fit_together_are_refused(plain, guard, tmp_path):
    folder = tmp_path / "ratings"
    folder.mkdir()
    pq.write_table(plain, folder / "a.parquet")
    pq.write_table(plain.rename_columns(["user", "film", "rating"]), folder / "b.parquet")
    with pytest.raises(DataError, match=r"b.parquet has other columns"):
        ag.protect_files(folder, guard, tmp_path / "out", key=KEY)
    (folder / "b.parquet").unlink()
    (folder / "c.csv").write_text("user,item,rating\n1,1,5\n")
    with pytest.raises(DataError, match="both Parquet and text"):
        ag.protect_files(folder, guard, tmp_path / "out", key=KEY)
    (folder / "a.parquet").unlink()
    (folder / "d.csv").write_text("user,item,rating\n1,2,5,7\n")
    with pytest.raises(DataError, match=r"d.csv"):
        ag.protect_files(folder, guard, tmp_path / "out", key=KEY)
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE other (a)")
    connection.close()
    with pytest.raises(DataError, match="has no table 'ratings'; its tables are other"):
        ag.protect_files(f"{tmp_path / 'shop.db'}:ratings", guard, tmp_path / "out", key=KEY)


def test_duckdb_keeps_to_the_memory_and_spills_into_the_output_folder(plain, guard, tmp_path, monkeypatch):
    asked = []
    plainly = duck.connected

    def watched(spill, *, memory, threads):
        asked.append((spill, memory, threads))
        return plainly(spill, memory=memory, threads=threads)

    monkeypatch.setattr(buckets, "connected", watched)
    monkeypatch.setattr(embedded, "connected", watched)
    before = set(tmp_path.rglob("*"))
    ag.protect_files(lay(plain, "parquet", tmp_path), guard, tmp_path / "out", key=KEY, parts=2, memory="400MB")
    assert max(memory for _, memory, _ in asked) == 400 * 10**6
    assert all((tmp_path / "out") in spill.parents for spill, _, _ in asked)
    new = set(tmp_path.rglob("*")) - before - {tmp_path / "ratings.parquet"}
    assert all(path == tmp_path / "out" or path.parent == tmp_path / "out" for path in new)
    with duck.connected(tmp_path / "spill", memory=300 * 10**6, threads=1) as connection:
        assert connection.execute("SELECT current_setting('memory_limit')").fetchone() == ("286.1 MiB",)


@pytest.mark.parametrize(("text", "amount"), [("2GB", 2 * 10**9), ("512 MiB", 2**29), ("1.5gb", 15 * 10**8)])
def test_memory_is_read_as_people_write_it(text, amount):
    assert memory_bytes(text) == amount


def test_a_full_disk_is_told_and_the_run_goes_on(plain, guard, tmp_path, monkeypatch):
    source = lay(plain, "parquet", tmp_path)

    def full(beside, path):
        if path.name == "part-00002.parquet":
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "before_rename", full)
    with pytest.raises(NoSpaceError, match="2 of 4 parts are done; make space, and give the same command again"):
        ag.protect_files(source, guard, tmp_path / "out", key=KEY, parts=4)
    assert sorted(path.name for path in (tmp_path / "out").glob("part-*")) == [
        "part-00000.parquet",
        "part-00001.parquet",
    ]
    assert not list((tmp_path / "out").rglob("*.part"))
    monkeypatch.setattr(files, "before_rename", lambda beside, path: None)
    ag.protect_files(source, guard, tmp_path / "out", key=KEY)
    assert by_user_and_item(released(tmp_path / "out")) == by_user_and_item(whole_of(plain, guard))


@pytest.mark.posix
def test_workers_make_the_same_parts_and_one_that_is_killed_is_told(plain, guard, tmp_path, monkeypatch):
    source = lay(plain, "parquet", tmp_path)
    ag.protect_files(source, guard, tmp_path / "here", key=KEY, parts=4, locked=[1], most=2)
    monkeypatch.setenv("ATTRIGUARD_THREADS", "2")
    ag.protect_files(source, guard, tmp_path / "threads", key=KEY, parts=4, locked=[1], most=2)
    assert hashes(tmp_path / "threads") == hashes(tmp_path / "here")
    monkeypatch.setattr(processes, "START", 0)
    start, victims = processes.subprocess.Popen, []

    def first_dies(*args, **options):
        process = start(*args, **options)
        if not victims:
            victims.append(process)
            process.kill()
        return process

    monkeypatch.setattr(processes.subprocess, "Popen", first_dies)
    with pytest.raises(DataError, match=r"a worker process was killed \(signal 9\).*the same command goes on"):
        ag.protect_files(source, guard, tmp_path / "out", key=KEY, parts=4, locked=[1], most=2)
    assert victims[0].returncode == -9
    shown = []
    ag.protect_files(
        source, guard, tmp_path / "out", key=KEY, locked=[1], most=2, progress=lambda *told: shown.append(told)
    )
    assert hashes(tmp_path / "out") == hashes(tmp_path / "here")
    assert f"{len(plain['user'].unique()):,} users" in shown[-1][0]
    assert shown[-1][1] == pytest.approx(1.0)


@pytest.mark.posix
def test_a_process_that_is_killed_leaves_nothing_in_the_way(plain, guard, tmp_path):
    """A real SIGKILL, in the middle of the parts."""
    source = lay(plain, "parquet", tmp_path)
    code = (
        "import os, signal, sys, attriguard as ag\n"
        "from attriguard.data import files\n"
        "def die(beside, path):\n"
        "    if path.name == 'part-00001.parquet': os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.before_rename = die\n"
        "ag.protect_files(sys.argv[1], sys.argv[2], sys.argv[3], key=sys.argv[4], parts=3)\n"
    )
    command = [sys.executable, "-c", code, source, str(guard), str(tmp_path / "out"), KEY]
    assert subprocess.run(command, env=os.environ, check=False).returncode == -9
    assert list((tmp_path / "out").glob(".attriguard-*.part"))
    ag.protect_files(source, guard, tmp_path / "out", key=KEY)
    ag.protect_files(source, guard, tmp_path / "whole", key=KEY, parts=3)
    assert hashes(tmp_path / "out") == hashes(tmp_path / "whole")


def test_a_guard_of_likes_takes_every_row_as_a_like(data, plain, tmp_path):
    """Then a column of ratings is one of the others, and is judged by the sample as they are."""
    likes = ag.learn(plain, attributes=cities(data), like=True, budget=2.0, random_state=0)
    ag.protect_files(lay(plain, "parquet", tmp_path), likes, tmp_path / "out", key=KEY, parts=3)
    expected = ag.protect(plain, likes, key=KEY).table
    assert by_user_and_item(released(tmp_path / "out")) == by_user_and_item(expected)
    again = ag.protect_files(tmp_path / "ratings.parquet", likes, tmp_path / "out", key=KEY)  # the same guard once more
    assert again.totals["rows"] == expected.num_rows


def cities(data: ag.PublicData) -> pa.Table:
    return pa.table({"user": data.users, "city": [data.values[code] for code in data.y]})


def test_ids_with_blanks_are_one_user_wherever_they_stand(plain, guard, tmp_path):
    """In a CSV file " 7" and "7" are the same user, so they must come into the same bucket."""
    blanks = [f"{' ' * (k % 3)}{user}" for k, user in enumerate(plain["user"].to_pylist())]
    table = plain.set_column(0, "user", pa.array(blanks))
    (tmp_path / "r.csv").write_bytes(csv_bytes(table, ","))
    ag.protect_files(tmp_path / "r.csv", guard, tmp_path / "out", key=KEY, parts=5)
    got = [tuple(cell.strip() for cell in row) for row in by_user_and_item(released(tmp_path / "out"))]
    assert sorted(got) == by_user_and_item(whole_of(plain, guard))


def test_two_runs_at_once_do_not_share_a_folder(plain, guard, tmp_path):
    from attriguard.data.locks import used_alone
    from attriguard.errors import BusyError

    (tmp_path / "out").mkdir()
    with used_alone(tmp_path / "out"), pytest.raises(BusyError, match="another run is using"):
        ag.protect_files(lay(plain, "parquet", tmp_path), guard, tmp_path / "out", key=KEY)


def test_a_part_says_which_rows_are_wrong_without_their_cells(plain, guard, tmp_path):
    twice = pa.concat_tables([plain, plain.slice(5, 1)])
    with pytest.raises(DataError, match="come more than once"):
        ag.protect_files(lay(twice, "parquet", tmp_path), guard, tmp_path / "out", key=KEY, parts=3)
    assert not (tmp_path / "out" / "_SUCCESS").exists()
    ag.protect_files(tmp_path / "ratings.parquet", guard, tmp_path / "mean", key=KEY, parts=3, duplicates="mean")
    assert by_user_and_item(released(tmp_path / "mean")) == by_user_and_item(whole_of(plain, guard))


def test_a_refused_table_leaves_nothing_and_mended_it_goes_into_the_same_folder(plain, guard, tmp_path, monkeypatch):
    """By the first rows that are looked at, and by a part that only a worker sees."""
    out = tmp_path / "new" / "out"
    twice = pa.concat_tables([plain, plain.slice(5, 1)])
    for rows in (embedded.HEAD_ROWS, 100):
        monkeypatch.setattr(embedded, "HEAD_ROWS", rows)
        for wrong, parts in ((plain.slice(0, 0), None), (plain.drop_columns("item"), None), (twice, None), (twice, 1)):
            with pytest.raises(DataError):
                ag.protect_files(lay(wrong, "parquet", tmp_path), guard, out, key=KEY, parts=parts)
            assert [path.name for path in tmp_path.iterdir()] == ["ratings.parquet"]
    (tmp_path / "there").mkdir()  # a folder of the user's own stays
    with pytest.raises(DataError, match="come more than once"):
        ag.protect_files(tmp_path / "ratings.parquet", guard, tmp_path / "there", key=KEY)
    assert not list((tmp_path / "there").iterdir())
    ag.protect_files(lay(plain, "parquet", tmp_path), guard, out, key=KEY)
    assert by_user_and_item(released(out)) == by_user_and_item(whole_of(plain, guard))


def test_types_come_back_as_they_were(plain, guard, tmp_path):
    n, rng = plain.num_rows, np.random.default_rng(3)
    few = rng.integers(0, 5, n)
    day = pa.array(few.astype("int32"), pa.int32())
    columns = {
        "small": pa.array(few, pa.int8()),
        "single": pa.array(few / 4, pa.float32()),
        "flag": pa.array(few > 2),
        "long": pa.array([f"é {k}" for k in few], pa.large_string()),
        "when": pa.array(rng.integers(10**15, 2 * 10**15, n), pa.timestamp("us", "Europe/Paris")),
        "day": day.cast(pa.date32()),
        "price": pa.array([None if k == 1 else k for k in few.tolist()], pa.decimal128(8, 2)),
        "class": pa.array([f"c{k}" for k in few]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
        "bytes": pa.array([bytes([k]) for k in few.tolist()]),
    }
    table = pa.table({**{name: plain[name] for name in plain.column_names}, **columns})
    source = lay(table, "parquet", tmp_path)
    ag.protect_files(source, guard, tmp_path / "out", key=KEY, parts=3)
    got, expected = released(tmp_path / "out"), ag.protect(source, guard, key=KEY, order="sorted").table
    assert got.schema.equals(expected.schema)
    order = [("user", "ascending"), ("item", "ascending")]
    assert got.sort_by(order).to_pylist() == expected.sort_by(order).to_pylist()
    odd = table.append_column("list", pa.array([[1]] * n))
    with pytest.raises(DataError, match="column 'list' holds list"):
        ag.protect_files(lay(odd, "parquet", tmp_path), guard, tmp_path / "odd", key=KEY)
