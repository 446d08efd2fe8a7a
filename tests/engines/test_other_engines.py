"""The examples of docs/ for Spark, Dask and Ray run as they stand, and give the release of the whole table."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from conftest_engines import KEY, by_user_and_item, text_of, whole_of

import attriguard as ag
from attriguard.cli import app
from attriguard.cli._shell import run

DOCS = Path(__file__).parents[2] / "docs"
PAGE, LEDGER = ((DOCS / name).read_text(encoding="utf-8") for name in ("scale.md", "ledger.md"))


def blocks_of(page: str, kind: str = "py") -> list[str]:
    """Blocks that need an engine; the other pages' blocks are marked as python or sh, and run without one."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def example(heading: str) -> str:
    """The Python block below a heading."""
    (block,) = blocks_of(PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0])
    return block


def commands_of(page: str, kind: str) -> list[str]:
    """The commands of a page's blocks, without what stands for the reader's own cluster."""
    text = "\n".join(blocks_of(page, kind)).replace("\\\n", " ").replace("--master spark://HOST:7077", "")
    return [line for line in text.splitlines() if line.startswith("attriguard protect ")]


@pytest.fixture
def folder(plain, guard, tmp_path, monkeypatch):
    """What the examples name: a folder of ratings, a guard and a key."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ratings").mkdir()
    pq.write_table(plain.slice(0, 900), tmp_path / "ratings" / "1.parquet")
    pq.write_table(plain.slice(900), tmp_path / "ratings" / "2.parquet")
    shutil.copy(guard, tmp_path / "city.guard")
    (tmp_path / "secret.key").write_text(KEY)
    return tmp_path


def assert_protected(plain: pa.Table, guard: Path, folder: Path) -> None:
    parts = [pq.read_table(path) for path in (folder / "protected").glob("*.parquet")]
    made = pa.concat_tables(part.select(plain.column_names).replace_schema_metadata() for part in parts)
    assert by_user_and_item(made) == by_user_and_item(whole_of(plain, guard))


class RayInThisProcess:
    """What the example asks of `ray.data`, where Ray is not: a data set is a list of blocks."""

    def __init__(self, blocks: list[pa.Table]) -> None:
        self.blocks = blocks

    @classmethod
    def read_parquet(cls, folder: str) -> RayInThisProcess:
        return cls([pq.read_table(path) for path in sorted(Path(folder).glob("*.parquet"))])

    def repartition(self, n: int, keys: list[str]) -> RayInThisProcess:
        """Rows with the same key are in one block, in no order."""
        rows = pa.concat_tables(self.blocks)
        (key,) = keys
        place = pa.array([hash(value) % n for value in rows[key].to_pylist()])
        shuffled = rows.take(pa.array(np.random.default_rng(0).permutation(rows.num_rows)))
        place = place.take(pa.array(np.random.default_rng(0).permutation(rows.num_rows)))
        return RayInThisProcess([shuffled.filter(pc.equal(place, k)) for k in range(n)])

    def map_batches(self, change, *, batch_format: str, batch_size: int | None) -> RayInThisProcess:
        """A batch is a whole block."""
        assert (batch_format, batch_size) == ("pyarrow", None)
        return RayInThisProcess([change(block) for block in self.blocks])

    def write_parquet(self, folder: str) -> None:
        Path(folder).mkdir()
        for k, block in enumerate(self.blocks):
            pq.write_table(block, Path(folder) / f"{k}.parquet")


def missing(*modules: str) -> bool:
    return any(importlib.util.find_spec(name) is None for name in modules)


@pytest.fixture
def spark_here(spark, folder):
    """Spark reads and writes in the folder, as it would if it had been started there."""
    hadoop = spark._jvm.org.apache.hadoop.fs
    hadoop.FileSystem.get(spark._jsc.hadoopConfiguration()).setWorkingDirectory(hadoop.Path(str(folder)))
    return spark


@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")
def test_spark(spark_here, plain, guard, folder):
    exec(example("Spark"), {})
    assert_protected(plain, guard, folder)


@pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")
def test_spark_with_a_ledger(spark_here, plain, guard, folder):
    (block,) = blocks_of(LEDGER)
    given = {"attriguard": ag, "df": spark_here.read.parquet("ratings"), "guard": "city.guard", "key": KEY}
    exec(block.replace("/shared", str(folder)), given)
    (folder / "june").rename(folder / "protected")
    assert_protected(plain, guard, folder)
    assert len(ag.check_ledger(folder / "told", key=KEY, guard=guard).releases) == 1


@pytest.mark.parametrize("command", [*commands_of(PAGE, "bash"), *commands_of(LEDGER, "text")])
def test_commands_that_name_an_engine_run(command, request, plain, guard, folder):
    if "--engine spark" in command:
        request.getfixturevalue("spark_here")
    (folder / "secret.key").chmod(0o600)
    (folder / "ratings").rename(folder / shlex.split(command)[2])
    assert run(app, shlex.split(command)[1:]) == 0
    made = [text_of(path) for path in (folder / "released").glob("part-*")]
    assert by_user_and_item(pa.concat_tables(made)) == by_user_and_item(whole_of(plain, guard))


@pytest.mark.skipif(missing("dask"), reason="Dask is not there: pip install 'dask[dataframe]'")
@pytest.mark.filterwarnings("ignore")
def test_dask(plain, guard, folder):
    import dask

    with dask.config.set(scheduler="synchronous"):
        exec(example("Dask"), {})
    assert_protected(plain, guard, folder)


@pytest.mark.skipif(missing("ray"), reason="Ray is not there: pip install 'ray[data]'")
@pytest.mark.filterwarnings("ignore")
def test_ray(plain, guard, folder):
    import ray

    # The guard's file is named as seen from this folder; worker processes begin in it.
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        exec(example("Ray"), {})
    finally:
        ray.shutdown()
    assert_protected(plain, guard, folder)


def test_ray_without_ray(plain, guard, folder, monkeypatch):
    """The example itself; that Ray does what stands in for it here is what the test above is for."""
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(data=RayInThisProcess))
    exec(example("Ray"), {})
    assert_protected(plain, guard, folder)


def test_every_engine_of_the_page_is_tested():
    assert blocks_of(PAGE) == [example(name) for name in ("Spark", "Dask", "Ray")]
