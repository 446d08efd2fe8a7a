"""The ledger on disk: private, keyed, whole or refused; a kill at any moment leaves release and ledger in agreement."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import attriguard as ag
from attriguard.errors import DataError, ParameterError
from attriguard.ledger.entries import Entries
from attriguard.ledger.files import write_told
from attriguard.ledger.store import STATE, Addition, Ledger, _mark

KEY = b"0123456789abcdef"
SCALE = (1.0, 5.0, 1.0)
MOMENTS = 35

KILLED = """
import os, signal, sys
from pathlib import Path
from attriguard.ledger.store import Ledger
from attriguard.data.files import written_beside
sys.path.insert(0, sys.argv[1])
from test_store import KEY, addition

def run(folder, moment):
    seen = []
    def die(event, args):
        if event in ("open", "os.rename", "os.remove", "os.chmod", "os.truncate"):
            if len(seen) == moment:
                os.kill(os.getpid(), signal.SIGKILL)
            seen.append(event)
    ledger = Ledger.open(folder / "ledger", KEY, "city")
    target = folder / "released.csv"
    def write(whole):
        with written_beside(target, whole=whole) as file:
            file.write(b"june")
    sys.addaudithook(die)
    ledger.commit(addition(2), write, target)

addition(1).files(Path(sys.argv[2]))  # whatever is loaded on first use is loaded now
for moment in range(int(sys.argv[3])):
    child = os.fork()
    if not child:
        run(Path(sys.argv[2]) / str(moment), moment)
        os._exit(0)
    os.waitpid(child, 0)
"""


def addition(release, users=(3, 7, 7), told=(1, 0, 4)):
    entries = Entries(
        user=np.array(users, dtype=np.uint64), item=np.arange(len(users), dtype=np.int32),
        own=np.array([1, 2, 0], dtype=np.int32)[: len(users)], told=np.array(told, dtype=np.int32),
        draw=np.zeros(len(users), np.int32), release=np.full(len(users), release, np.int32),
        names=np.array([f"{release}-{k}" for k in range(len(users))], dtype=object),
    )  # fmt: skip
    return Addition("city", SCALE, {"goal": "conceal"}, partial(write_told, entries=entries, cells=None))


def begin(folder):
    """A ledger with one release, which stands."""
    ledger, target = Ledger.open(folder / "ledger", KEY, "city"), folder / "released.csv"

    def write(whole):
        target.write_bytes(b"may")
        whole(target)

    ledger.commit(addition(1), write, target)
    return Ledger.open(folder / "ledger", KEY, "city")


@pytest.mark.posix
def test_a_kill_at_any_moment_leaves_release_and_ledger_in_agreement(tmp_path):
    """Killed before each of the steps that change the disk, and behind the last of them."""
    (tmp_path / "base").mkdir()
    begin(tmp_path / "base")
    for moment in range(MOMENTS):
        shutil.copytree(tmp_path / "base", tmp_path / str(moment))
    code = [sys.executable, "-c", KILLED, str(Path(__file__).parent), str(tmp_path), str(MOMENTS)]
    subprocess.run(code, check=True)
    found = []
    for moment in range(MOMENTS):
        folder = tmp_path / str(moment)
        ledger, content = Ledger.open(folder / "ledger", KEY, "city"), (folder / "released.csv").read_bytes()
        assert (content, ledger.number, ledger.entries.size) in ((b"may", 1, 3), (b"june", 2, 6)), moment
        found.append(ledger.number)
        # Nothing of the killed run is left, and the next release can be entered.
        assert len(list((folder / "ledger").iterdir())) == 1 + ledger.number
        ledger.commit(addition(3), lambda whole: None, None)
        assert Ledger.open(folder / "ledger", KEY, "city").number == ledger.number + 1
    assert found == sorted(found)
    assert found.count(1) >= 8  # the steps before the release gets its name
    assert found.count(2) >= 2


@pytest.mark.posix
def test_every_file_is_its_owners_alone_and_names_no_user(tmp_path):
    data = ag.load_dataset("twin", n_users=300, n_items=40, n_values=2, seed=3)
    table = data.to_arrow()
    named = pa.table({"user": [f"alice-{u}" for u in table.column("user").to_pylist()], "item": table["item"],
                      "rating": table["rating"]})  # fmt: skip
    guard = ag.learn(data, goal="mislead", budget=2.0, random_state=0)
    ag.protect(named, guard, key=KEY, ledger=tmp_path / "ledger").save(tmp_path / "out.csv")
    files = list((tmp_path / "ledger").iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "ledger").stat().st_mode) == 0o700
    assert not any(b"alice" in path.read_bytes() for path in files)
    (entries,) = [pq.read_table(path) for path in files if path.suffix == ".parquet"]
    assert not any("alice" in str(column.to_pylist()) for column in entries.columns)


def test_a_ledger_of_the_version_before_goes_on(tmp_path):
    """Its files do not say which users they hold; nothing of what they hold may be missed."""
    ledger = begin(tmp_path)
    record = json.loads((tmp_path / "ledger" / STATE).read_text())
    del record["mark"]
    files = [{name: value for name, value in each.items() if name != "users"} for each in record["files"]]
    record |= {"version": 2, "files": files}
    record["mark"] = _mark(record, ledger.key)
    (tmp_path / "ledger" / STATE).write_text(json.dumps(record))
    before = Ledger.open(tmp_path / "ledger", KEY, "city")
    assert before.past(np.array([7, 8], dtype=np.uint64))[0].size == 2
    before.commit(addition(2), lambda whole: None, None)
    after = Ledger.open(tmp_path / "ledger", KEY, "city")
    assert (after.number, after.entries.size) == (2, 6)
    assert after.past(np.array([3, 4], dtype=np.uint64))[0].size == 2
    record["version"] = 1
    (tmp_path / "ledger" / STATE).write_text(json.dumps(record))
    with pytest.raises(DataError, match="of another version"):
        Ledger.open(tmp_path / "ledger", KEY, "city")


def test_ledger_key_attribute_and_scale_belong_together(tmp_path):
    begin(tmp_path)
    assert Ledger.open(tmp_path / "ledger", KEY, "City ").number == 1  # as keys take names
    with pytest.raises(ParameterError, match="not written under this key"):
        Ledger.open(tmp_path / "ledger", b"another key of bytes", "city")
    with pytest.raises(ParameterError, match="is of the attribute 'city', but the guard hides 'gender'"):
        Ledger.open(tmp_path / "ledger", KEY, "gender")
    with pytest.raises(DataError, match=r"in steps of 1, these go from 1 to 5 in steps of 0\.5; name the ledger's"):
        Ledger.open(tmp_path / "ledger", KEY, "city").check_scale((1.0, 5.0, 0.5))


def test_damage_is_told_and_malice_too(tmp_path):
    begin(tmp_path)
    folder = tmp_path / "ledger"
    (entries,) = folder.glob("entries-*.parquet")
    whole = entries.read_bytes()
    entries.write_bytes(whole[:-20] + b"\0" * 20)
    with pytest.raises(DataError, match="missing or damaged"):
        ag.check_ledger(folder)
    entries.write_bytes(whole)
    state = json.loads((folder / "ledger.json").read_text())
    state["releases"][0]["goal"] = "mislead"
    (folder / "ledger.json").write_text(json.dumps(state))
    assert ag.describe_ledger(folder).releases[0]["goal"] == "mislead"  # without the key nobody can tell
    with pytest.raises(ParameterError, match="changed since"):
        ag.check_ledger(folder, key=KEY)
    (folder / "ledger.json").write_text("{")
    with pytest.raises(DataError, match="damaged"):
        ag.describe_ledger(folder)


@pytest.mark.posix
def test_a_folder_that_was_there_becomes_its_owners_alone(tmp_path):
    (tmp_path / "ledger").mkdir()
    (tmp_path / "ledger").chmod(0o777)
    begin(tmp_path)
    assert stat.S_IMODE((tmp_path / "ledger").stat().st_mode) == 0o700


def test_a_ledger_that_was_tampered_with_is_refused_however_few_users_are_read(tmp_path):
    """A table of few users reads a part of the ledger; what is hidden there must be what was hidden."""
    begin(tmp_path)
    (entries,) = (tmp_path / "ledger").glob("entries-*.parquet")
    table = pq.read_table(entries)
    pq.write_table(table.set_column(3, "told", table["own"]), entries)
    with pytest.raises(DataError, match="missing or damaged"):
        Ledger.open(tmp_path / "ledger", KEY, "city")


WRONG = [{"files": [{}]}, {"files": [3]}, {"releases": [3]}, {"releases": 3}, {"scale": [1]}, {"files": None},
         {"files": [{"kind": "entries", "name": "../other.parquet", "sha256": "0"}]}]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_state_that_no_run_has_written_is_refused_in_words(tmp_path, wrong):
    begin(tmp_path)
    path = tmp_path / "ledger" / STATE
    path.write_text(json.dumps(json.loads(path.read_text()) | wrong))
    with pytest.raises(DataError, match="damaged, or no ledger"):
        ag.describe_ledger(tmp_path / "ledger")


@pytest.mark.parametrize("release", ["x", {}, {"path": 3, "sha256": "0"}, [1]])
def test_an_entry_that_waits_for_no_release_is_refused_in_words(tmp_path, release):
    begin(tmp_path)
    state = json.loads((tmp_path / "ledger" / STATE).read_text())
    (tmp_path / "ledger" / "pending.json").write_text(json.dumps(state | {"of": release}))
    with pytest.raises(DataError, match=r"pending\.json is damaged"):
        ag.describe_ledger(tmp_path / "ledger")


def test_a_ledger_that_tells_something_twice_is_refused(tmp_path):
    ledger = begin(tmp_path)
    again = addition(2)
    entries = again.files.keywords["entries"]
    entries.names[:] = addition(1).files.keywords["entries"].names  # the hidden rating of user 7, told
    entries.told[:] = [1, 2, 4]
    ledger.commit(again, lambda whole: None, None)
    with pytest.raises(DataError, match="hidden, added or changed, and told in another way"):
        ag.check_ledger(tmp_path / "ledger", key=KEY)


def test_a_folder_with_other_things_is_refused_and_left_alone(tmp_path):
    (tmp_path / "entries-of-mine.parquet").write_bytes(b"mine")
    with pytest.raises(DataError, match="holds other files and no ledger"):
        Ledger.open(tmp_path, KEY, "city")
    assert (tmp_path / "entries-of-mine.parquet").read_bytes() == b"mine"
    with pytest.raises(DataError, match="there is no ledger"):
        ag.describe_ledger(tmp_path / "nothing")


def test_of_two_releases_planned_on_the_same_past_the_second_is_refused(tmp_path):
    ledger = begin(tmp_path)
    ledger.commit(addition(2), lambda whole: None, None)
    with pytest.raises(DataError, match="has changed since this release was planned"):
        ledger.commit(addition(2), lambda whole: None, None)


def test_forgetting_erases_a_user_and_nobody_else(tmp_path):
    data = ag.load_dataset("twin", n_users=300, n_items=40, n_values=2, seed=3)
    guard = ag.learn(data, goal="mislead", budget=2.0, random_state=0)
    ag.protect(data.to_arrow(), guard, key=KEY, ledger=tmp_path / "ledger").save(tmp_path / "out.csv")
    before = Ledger.open(tmp_path / "ledger", KEY, "city")
    (mark,) = before.hashes(data.users[7:8])
    assert before.entries.size  # read, as long as it is there
    erased = ag.forget_user(tmp_path / "ledger", str(data.users[7]), key=KEY)
    after = Ledger.open(tmp_path / "ledger", KEY, "city")
    assert erased == (before.entries.user == mark).sum() > 0
    assert after.entries.size == before.entries.size - erased
    assert not (after.entries.user == mark).any()
    assert not any(mark.tobytes() in path.read_bytes() for path in (tmp_path / "ledger").glob("*.parquet"))
    assert ag.forget_user(tmp_path / "ledger", "nobody", key=KEY) == 0
    with pytest.raises(ParameterError, match="give the key"):
        ag.forget_user(tmp_path / "ledger", "nobody", key=None)
