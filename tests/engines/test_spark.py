"""Spark makes the release that the embedded engine makes, row for row, in the order of all cells as text."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from conftest_engines import KEY, by_user_and_item, text_of, whole_of

import attriguard as ag
from attriguard.cli import app
from attriguard.cli._shell import run
from attriguard.engines import buckets, spark_worker
from attriguard.engines.release import guard_bytes
from attriguard.engines.sources import Source
from attriguard.engines.spark_session import one_line
from attriguard.engines.spark_worker import Facts, package_of, task_of
from attriguard.errors import DataError, MissingExtraError, ParameterError
from attriguard.operations.wishes import Wishes

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")


def released(folder: Path) -> pa.Table:
    assert (folder / "_SUCCESS").exists()
    parts = [pq.read_table(path) for path in sorted(folder.glob("part-*.parquet"))]
    return pa.concat_tables(part.replace_schema_metadata() for part in parts)


# Without Spark: what its workers do, and what is said where it is missing.


def package(table: pa.Table, guard: Path, **options: object) -> spark_worker.Package:
    wishes = Wishes.of({"key": KEY, **options}, None)
    source, about = Source("the table", "spark", (), table.schema), {"order": [], "ledger": None}
    return package_of(source, guard_bytes(guard), wishes, {}, (table, None), about)


@pytest.mark.parametrize("kind", ["plain", "wide"])
def test_a_worker_protects_partitions_as_the_whole_table_and_loads_the_guard_once(kind, guard, request, monkeypatch):
    table = request.getfixturevalue(kind)
    sent, loaded = package(table, guard), []
    load = spark_worker.protector_for
    monkeypatch.setattr(spark_worker, "protector_for", lambda *given: loaded.append(given) or load(*given))
    monkeypatch.setattr(spark_worker, "_ready", {})
    monkeypatch.setattr(spark_worker, "BLOCK_ROWS", 300)
    facts = SimpleNamespace(value=Facts().zero({}))
    facts.add = lambda more: setattr(facts, "value", Facts().addInPlace(facts.value, more))
    ordered = table.sort_by([("user", "ascending"), ("item", "descending")])
    odd = pa.compute.bit_wise_and(ordered["user"], 1)
    made = []
    for k in (0, 1):
        rows = ordered.filter(pa.compute.equal(odd, k)).to_batches(max_chunksize=100)
        made += task_of("the name", SimpleNamespace(value=tuple(sent)), facts)(iter(rows))
    assert by_user_and_item(pa.Table.from_batches(made)) == by_user_and_item(whole_of(table, guard))
    assert len(loaded) == 1
    assert not list(task_of("the name", None)(iter([])))  # a partition without rows; the broadcast is not read again
    assert facts.value["users"] == len(table["user"].unique())
    assert facts.value["added"] == ag.protect(table, guard, key=KEY).summary.added


def test_a_worker_keeps_few_guards(plain, guard, monkeypatch):
    monkeypatch.setattr(spark_worker, "_ready", {})
    sent = SimpleNamespace(value=tuple(package(plain, guard)))
    for k in range(spark_worker.MOST_READY + 2):
        list(task_of(f"guard {k}", sent)(iter([])))
    assert list(spark_worker._ready) == [f"guard {k}" for k in range(2, spark_worker.MOST_READY + 2)]


@pytest.mark.posix
@pytest.mark.parametrize("missing", ["pyspark", "Java"])
def test_what_is_missing_is_named(missing, plain, guard, tmp_path, monkeypatch, capsys):
    if missing == "pyspark":
        monkeypatch.setitem(sys.modules, "pyspark", None)
        said = "pip install 'attriguard[spark]', and on Debian: apt-get install default-jre-headless"
    else:
        fake = ModuleType("pyspark")
        fake.sql = ModuleType("pyspark.sql")
        monkeypatch.setitem(sys.modules, "pyspark", fake)
        monkeypatch.setitem(sys.modules, "pyspark.sql", fake.sql)
        monkeypatch.setenv("PATH", "")
        monkeypatch.delenv("JAVA_HOME", raising=False)
        said = "Spark needs Java 17 or newer, and there is none; on Debian: apt-get install default-jre-headless"
    pq.write_table(plain, tmp_path / "ratings.parquet")
    (tmp_path / "secret.key").write_text(KEY)
    (tmp_path / "secret.key").chmod(0o600)
    with pytest.raises(MissingExtraError, match=re.escape(said)):
        ag.spark.protect(plain, guard, key=KEY)
    with pytest.raises(MissingExtraError, match=re.escape(said)):
        ag.protect_files(tmp_path / "ratings.parquet", guard, tmp_path / "out", key=KEY, engine="spark")
    command = ["protect", str(tmp_path / "ratings.parquet"), "--guard", str(guard), "--output", str(tmp_path / "out")]
    assert run(app, [*command, "--key", f"@{tmp_path / 'secret.key'}", "--engine", "spark"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_master_and_an_engine_must_fit(plain, guard, tmp_path):
    pq.write_table(plain, tmp_path / "r.parquet")
    with pytest.raises(ParameterError, match="use --engine spark"):
        ag.protect_files(tmp_path / "r.parquet", guard, tmp_path / "out", key=KEY, master="local[2]")
    with pytest.raises(ParameterError, match="unknown engine 'memory' for files; known: embedded, spark"):
        ag.protect_files(tmp_path / "r.parquet", guard, tmp_path / "out", key=KEY, engine="memory")


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("Traceback:\n  File x\nattriguard.errors.ParameterError: name a column\n", ParameterError, "name a column"),
        ("x\nattriguard.engines.duck.NoSpaceError: full\n", DataError, "full"),
        ("java.io.IOException: No space left on device", DataError, "no space left on a disk of Spark's"),
        ("[MALFORMED_RECORD_IN_PARSING] records: [secret,1]", DataError, "another number of fields than the header"),
        ("x\nModuleNotFoundError: No module named 'attriguard'", DataError, "install it on every machine"),
        ("Job aborted\n\tat java", DataError, "Spark stopped: Job aborted"),
    ],
)
def test_what_stops_spark_is_one_line(text, kind, said):
    found = one_line(RuntimeError(text))
    assert isinstance(found, kind)
    assert said in str(found)
    assert "\n" not in str(found)
    assert "secret" not in str(found)


# With Spark on this machine.


def test_a_frame_is_protected_as_the_whole_table_and_the_key_is_in_no_plan(spark, plain, guard, tmp_path):
    from pyspark.cloudpickle import dumps

    pq.write_table(plain, tmp_path / "ratings.parquet", row_group_size=300)
    frame = spark.read.parquet(str(tmp_path / "ratings.parquet"))
    expected = by_user_and_item(whole_of(plain, guard))
    for n in (None, 3):
        made = ag.spark.protect(frame.repartition(4), guard, key=KEY, partitions=n)
        assert made.schema == frame.schema
        assert by_user_and_item(made.toArrow()) == expected
    plan = made._jdf.queryExecution().toString()
    task = dumps(task_of("name", spark.sparkContext.broadcast(tuple(package(plain, guard)))))
    for secret in (KEY, KEY.encode().hex()):
        assert secret not in plan
        assert secret.encode() not in task
    assert len(task) < 5_000 < len(guard.read_bytes())


def test_other_columns_are_judged_by_the_embedded_engines_sample(spark, wide, guard, tmp_path, monkeypatch):
    monkeypatch.setattr(buckets, "SAMPLE_ROWS", wide.num_rows // 3)
    pq.write_table(wide, tmp_path / "ratings.parquet")
    ag.protect_files(tmp_path / "ratings.parquet", guard, tmp_path / "out", key=KEY, parts=2)
    embedded = pa.concat_tables(pq.read_table(path) for path in sorted((tmp_path / "out").glob("part-*")))
    frame = spark.read.parquet(str(tmp_path / "ratings.parquet"))
    made = ag.spark.protect(frame, guard, key=KEY, partitions=3)
    assert made.columns == wide.column_names
    order = [("user", "ascending"), ("item", "ascending")]
    assert made.toArrow().sort_by(order).to_pylist() == embedded.sort_by(order).to_pylist()
    slim = ag.spark.protect(frame, guard, key=KEY, partitions=2, drop_columns=["when", "title", "device", "token"])
    assert by_user_and_item(slim.toArrow()) == by_user_and_item(whole_of(wide.select([0, 1, 2]), guard))


def test_mistakes_in_a_frame_are_told_at_once(spark, plain, guard):
    frame = spark.createDataFrame([(1, 1, 5), (2, 2, 3)], ["user", "item", "rating"])
    for given, options, said in (
        (plain, {"key": KEY}, "a Spark DataFrame was expected, got a Table"),
        (frame, {"key": None}, "a release in parts needs a key"),
        (frame, {"key": KEY, "attributes": frame}, "attributes is of no use"),
        (frame, {"key": KEY, "partitions": 0}, "partitions"),
        (frame.limit(0), {"key": KEY}, "has no rows"),
        (frame.selectExpr("user AS a", "item AS b", "rating"), {"key": KEY}, "which column is the user"),
        (frame.selectExpr("*", "array(1) AS tags"), {"key": KEY}, "column 'tags' holds list"),
        (frame.selectExpr("user", "item + 1000 AS item", "rating"), {"key": KEY}, "knows 0 of the table's"),
    ):
        with pytest.raises((DataError, ParameterError), match=re.escape(said)):
            ag.spark.protect(given, guard, **options)


def test_files_become_a_folder_as_the_embedded_engine_makes_it(spark, plain, guard, tmp_path, monkeypatch):
    (tmp_path / "ratings" / "year=2020").mkdir(parents=True)
    pq.write_table(plain.slice(0, 700), tmp_path / "ratings" / "odd [1].parquet")
    pq.write_table(plain.slice(700), tmp_path / "ratings" / "year=2020" / "b.parquet")
    embedded = ag.protect_files(tmp_path / "ratings", guard, tmp_path / "embedded", key=KEY, parts=2, most=2)
    told = []
    found = ag.protect_files(
        tmp_path / "ratings", guard, tmp_path / "out", key=KEY, parts=3, most=2, engine="spark",
        progress=lambda *what: told.append(what),
    )  # fmt: skip
    assert by_user_and_item(released(tmp_path / "out")) == by_user_and_item(released(tmp_path / "embedded"))
    assert found.totals == embedded.totals
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    before = json.loads((tmp_path / "embedded" / "_manifest.json").read_text())
    assert {name: manifest[name] for name in ("guard_sha256", "key", "input", "options")} == {
        name: before[name] for name in ("guard_sha256", "key", "input", "options")
    }
    assert ", spark 4." in manifest["version"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "_SUCCESS", "_manifest.json", *(each["file"] for each in manifest["files"])
    }  # fmt: skip
    for each in manifest["files"]:
        assert hashlib.sha256((tmp_path / "out" / each["file"]).read_bytes()).hexdigest() == each["sha256"]
    assert sum(each["rows"] for each in manifest["files"]) == found.totals["rows"]
    assert not list(tmp_path.glob(".attriguard*"))
    assert told
    with pytest.raises(DataError, match="is there already"):
        ag.protect_files(tmp_path / "ratings", guard, tmp_path / "out", key=KEY, engine="spark")
    with pytest.raises(ParameterError, match=r"uses Spark at local\[2\] already"):
        ag.protect_files(tmp_path / "ratings", guard, tmp_path / "new", key=KEY, engine="spark", master="local[3]")


def test_csv_files_are_read_as_the_embedded_engine_reads_them(spark, plain, guard, tmp_path):
    """Blanks around ids, quotes, line breaks in cells, empty cells, ids with letters."""
    user = [f"{' ' * (k % 3)}{user}" for k, user in enumerate(plain["user"].to_pylist())]
    note = [('say "no"\nor, yes', "", "plain")[user % 3] for user in plain["user"].to_pylist()]
    table = plain.set_column(0, "user", pa.array(user)).append_column("Note", pa.array(note))
    (tmp_path / "ratings").mkdir()
    for k, rows in enumerate([table.slice(0, 900), table.slice(900)]):
        sink = io.BytesIO()
        pa.csv.write_csv(rows, sink, pa.csv.WriteOptions(delimiter=";"))
        (tmp_path / "ratings" / f"{k}.csv").write_bytes(sink.getvalue())
    ag.protect_files(tmp_path / "ratings", guard, tmp_path / "embedded", key=KEY, parts=2)
    ag.protect_files(tmp_path / "ratings", guard, tmp_path / "out", key=KEY, parts=2, engine="spark")
    embedded = pa.concat_tables(text_of(path) for path in sorted((tmp_path / "embedded").glob("part-*")))
    assert by_user_and_item(released(tmp_path / "out")) == by_user_and_item(embedded)
    assert "\n" in "".join(released(tmp_path / "out")["Note"].to_pylist())
    lines = [f"{user};2;3;plain\n" for user in range(10_000, 100_000)]  # more than is read to learn the columns
    (tmp_path / "ratings" / "2.csv").write_text("".join(["user;item;rating;Note\n", *lines, "private;1\n"]))
    with pytest.raises(DataError, match="another number of fields than the header") as caught:
        ag.protect_files(tmp_path / "ratings", guard, tmp_path / "cut", key=KEY, engine="spark")
    assert "private" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["embedded", "out", "ratings"]


def test_a_mistake_that_only_a_worker_finds_is_one_line_and_leaves_nothing(spark, plain, guard, tmp_path):
    user = [each + 1000 * k for k in range(10) for each in plain["user"].to_pylist()]
    many = pa.concat_tables([plain] * 10).set_column(0, "user", pa.array(user))
    twice = pa.concat_tables([many, many.slice(20_500, 1)])  # behind the rows that are looked at first
    pq.write_table(twice, tmp_path / "ratings.parquet")
    with pytest.raises(DataError, match="come more than once") as caught:
        ag.protect_files(tmp_path / "ratings.parquet", guard, tmp_path / "out", key=KEY, engine="spark")
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["ratings.parquet"]


# With a cluster: a master and two workers on the loopback interface, one of which is killed in the middle.

PARTS = 40
# Nothing here runs for long enough that Java's second compiler would pay.
ENVIRONMENT = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1"}


@pytest.fixture
def cluster(java, tmp_path):
    """The master's address and its two workers, each a process group of its own."""
    import pyspark

    started, env = [], {**ENVIRONMENT, "SPARK_HOME": str(Path(pyspark.__file__).parent)}

    def start(name: str, *arguments: str) -> tuple[subprocess.Popen[bytes], Path]:
        log = tmp_path / f"{name}.log"
        kind = "master.Master" if name == "master" else "worker.Worker"
        command = [f"{env['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{kind}",
                   "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", *arguments]  # fmt: skip
        with log.open("wb") as file:
            process = subprocess.Popen(command, env=env, stdout=file, stderr=file, start_new_session=True)
        started.append(process)
        return process, log

    try:
        _, log = start("master")
        address = waited_for(lambda: re.search(r"Starting Spark master at (spark://\S+)", log.read_text()))[1]
        given = ("--cores", "1", "--memory", "1g", "--work-dir")
        workers = [start(name, *given, str(tmp_path / f"work-{name}"), address) for name in ("one", "two")]
        for _, log in workers:
            waited_for(lambda log=log: "Successfully registered with master" in log.read_text())
        yield address, [process for process, _ in workers]
    finally:
        for process in started:
            end(process)


def waited_for(found, seconds: float = 300):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if result := found():
            return result
        time.sleep(0.05)
    raise AssertionError("it did not come")


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process of ours and all that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.posix
def test_a_worker_of_a_cluster_is_killed_and_the_release_is_the_same(cluster, plain, guard, tmp_path):
    address, workers = cluster
    pq.write_table(plain, tmp_path / "ratings.parquet")
    (tmp_path / "secret.key").write_text(KEY)
    (tmp_path / "secret.key").chmod(0o600)
    command = [sys.executable, "-c", "from attriguard.cli import main; main()", "protect",
               str(tmp_path / "ratings.parquet"), "--guard", str(guard), "--key", f"@{tmp_path / 'secret.key'}",
               "--output", str(tmp_path / "out"), "--engine", "spark", "--master", address,
               "--parts", str(PARTS), "--json"]  # fmt: skip
    job = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def done() -> int:
        """Parts that are written, and not yet in place."""
        return len(list(tmp_path.glob(".attriguard-*.spark/rows/part-*.parquet")))

    try:
        waited_for(lambda: done() > 1 or job.poll() is not None)
        at = done()
        end(workers[0])
        out, said = job.communicate(timeout=300)
    finally:
        if job.poll() is None:
            job.kill()
            job.wait()
    assert job.returncode == 0, said
    assert 1 < at < PARTS
    ag.protect_files(tmp_path / "ratings.parquet", guard, tmp_path / "embedded", key=KEY, parts=3)
    assert by_user_and_item(released(tmp_path / "out")) == by_user_and_item(released(tmp_path / "embedded"))
    found = json.loads(out)
    assert found["users"] == len(plain["user"].unique())
    assert found["rows"] == released(tmp_path / "out").num_rows
    assert not list(tmp_path.glob(".attriguard*"))
