"""What is finished is not run again, what is damaged is, and a killed run goes on with the same result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_experiments import without_seconds

from attriguard.data.locks import used_alone
from attriguard.errors import BusyError, MissingExtraError
from attriguard.experiments import get
from attriguard.experiments.blocks import find_in_blocks, load_block
from attriguard.experiments.figure1 import Figure1
from attriguard.experiments.page import reproduce
from attriguard.experiments.runner import (
    DONE,
    NOT_STARTED,
    STARTED,
    all_stored,
    run_all,
    run_one,
    state,
    stored,
)
from attriguard.experiments.workspace import Workspace

KILLED = ["figure-1", "figure-6", "figure-7", "figure-8", "appendix", "beyond-detection"]


def test_a_finished_experiment_is_not_run_again(workspace, tmp_path, monkeypatch):
    work = workspace(tmp_path)
    assert state(get("figure-1"), work) == NOT_STARTED
    (first,) = run_all(["figure-1"], work)
    assert state(get("figure-1"), work) == DONE

    def refuse(self, work, progress):
        raise AssertionError("run again")

    monkeypatch.setattr(Figure1, "run", refuse)
    (second,) = run_all(["figure-1"], workspace(tmp_path))
    assert (second.numbers, second.seconds) == (first.numbers, first.seconds)
    assert [each.experiment.name for each in all_stored(work)] == ["figure-1"]
    for other in (workspace(tmp_path, seed=1), workspace(tmp_path / "elsewhere")):
        assert state(get("figure-1"), other) == NOT_STARTED
    monkeypatch.setattr(Figure1, "revision", 2)
    assert state(get("figure-1"), work) == NOT_STARTED


def test_an_interrupted_or_damaged_one_is(workspace, tmp_path, monkeypatch):
    work = workspace(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Figure1, "run", lambda self, work, progress: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run_one(get("figure-1"), work)
    assert state(get("figure-1"), work) == STARTED
    done = run_one(get("figure-1"), work)
    (file,) = (tmp_path / "experiments").iterdir()
    file.write_bytes(file.read_bytes()[:40])
    assert stored(get("figure-1"), work) is None
    assert run_one(get("figure-1"), work).numbers == done.numbers


def test_a_missing_extra_is_said_and_passed_over(workspace, tmp_path, monkeypatch):
    def refuse(self, work, progress):
        raise MissingExtraError("this needs the extra 'x'")

    monkeypatch.setattr(Figure1, "run", refuse)
    (found,) = run_all(["figure-1"], workspace(tmp_path))
    assert found.numbers is None
    assert found.missing == "this needs the extra 'x'"


def test_every_experiment_has_its_share_of_the_bar(workspace, tmp_path, monkeypatch):
    told = []
    names = ["figure-1", "figure-8"]
    monkeypatch.setattr(get("figure-8").__class__, "run", lambda self, work, progress: progress.tell("half", 0.5) or {})
    run_all(names, workspace(tmp_path), lambda what, done: told.append((what, done)))
    first, second = (get(name).effort[0] for name in names)
    assert told[0] == ("figure-1", 0.0)
    assert told[-1] == ("figure-8: half", pytest.approx((first + second / 2) / (first + second)))
    assert run_all([], workspace(tmp_path)) == []


def test_blocks_are_kept_and_joined(shared_work, tmp_path):
    whole = shared_work.phase_one(search="margin")
    calls = []
    shape = {"n_items": shared_work.data.n_items, "m": shared_work.data.m}

    def find(users):
        from attriguard.experiments.blocks import NoiseBlock

        calls.append(users)
        plan = shared_work.guard(search="margin").plan(shared_work.X[users])
        return NoiseBlock(plan.edits, plan.inferred, 1.0)

    first = find_in_blocks(find, 20, size=7, folder=tmp_path, **shape)
    assert len(calls) == 3
    (tmp_path / "edits-000007-000014.safetensors").write_bytes(b"nothing")
    assert load_block(tmp_path / "edits-000007-000014.safetensors", 7, **shape) is None
    again = find_in_blocks(find, 20, size=7, folder=tmp_path, **shape)
    assert calls[3:] == [slice(7, 14)]
    assert again.seconds == first.seconds == 3.0
    for name in ("indptr", "items", "values", "cost", "success", "extended"):
        np.testing.assert_array_equal(getattr(again.edits, name), getattr(whole.edits, name))
    np.testing.assert_array_equal(again.inferred, whole.inferred)


def test_pieces_are_made_once_a_key(workspace, tmp_path):
    work, calls = workspace(tmp_path), []

    def make():
        calls.append(1)
        return {"found": [1, None, 0.5]}

    assert work.kept(make, "one", 1.0) == work.kept(make, "one", 1.0) == {"found": [1, None, 0.5]}
    assert len(calls) == 1
    work.kept(make, "one", 2.0)
    workspace(tmp_path, seed=1).kept(make, "one", 1.0)
    assert len(calls) == 3
    for file in (tmp_path / "pieces").iterdir():
        file.write_text('{"found": [1,')  # damaged counts as missing
    assert work.kept(make, "one", 1.0) == {"found": [1, None, 0.5]}
    assert len(calls) == 4


def test_a_damaged_guard_is_learnt_again(workspace, tmp_path):
    work = workspace(tmp_path)
    first = work.guard()
    (file,) = (tmp_path / "guards").iterdir()
    file.write_bytes(file.read_bytes()[:500])
    again = work.guard()
    assert (first.classifier_.coef_ == again.classifier_.coef_).all()


SCRIPT = """
import json, os, random, signal, sys, time
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from conftest import TINY
import attriguard as ag
from attriguard.experiments.runner import run_all
from attriguard.experiments.workspace import Workspace

import torch, scipy.optimize, sklearn.linear_model, sklearn.ensemble

twin = ag.load_dataset("twin", n_users=360, n_items=100, n_values=3, seed=3)
folder, names, chance = Path(sys.argv[2]), sys.argv[3].split(","), random.Random(5)


def run():
    work = Workspace(twin, source="twin", profile=TINY, folder=folder)
    run_all(names, work)


killed = 0
for attempt in range(8):
    child = os.fork()
    if child == 0:
        run()
        os._exit(0)
    time.sleep(chance.uniform(0.0, 0.2 + 0.3 * attempt))
    os.kill(child, signal.SIGKILL)
    killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
run()
print(killed)
"""


@pytest.mark.posix
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_killed_at_random_moments_and_resumed_the_results_are_identical(workspace, tmp_path):
    pytest.importorskip("torch")
    whole = run_all(KILLED, workspace(tmp_path / "whole"))
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(tmp_path / "parts"), ",".join(KILLED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 3  # a kill after the end of the run is none
    resumed = {each.experiment.name: each.numbers for each in all_stored(workspace(tmp_path / "parts"))}
    assert list(resumed) == KILLED
    for each in whole:
        assert without_seconds(resumed[each.experiment.name]) == without_seconds(each.numbers)
    for file in (tmp_path / "parts").rglob("*.json"):
        json.loads(file.read_text())
    assert not list((tmp_path / "parts").rglob(".*.part"))  # swept by the runs that went on


def test_what_a_killed_run_was_writing_is_swept(workspace, tmp_path):
    workspace(tmp_path)
    gone = [tmp_path / part / f".attriguard-{'0a' * 16}.part" for part in ("predictions", "networks", "experiments")]
    others = [tmp_path / ".notes.part", tmp_path / f".attriguard-{'0a' * 16}.part"]
    (tmp_path / "experiments").mkdir()
    for file in (*gone, *others):
        file.touch()
    workspace(tmp_path)
    assert not any(file.exists() for file in gone)
    assert all(file.exists() for file in others)  # in none of the folders that are ours


def test_two_runs_do_not_share_a_work_folder(workspace, tmp_path):
    work = workspace(tmp_path)
    with used_alone(tmp_path), pytest.raises(BusyError, match="another run is using"):
        reproduce(["figure-1"], work)
    assert state(get("figure-1"), work) == NOT_STARTED
    assert reproduce(["figure-1"], work).verdicts


def test_the_workspace_attacks_a_seeded_sample(tiny_twin, workspace, tmp_path):
    first, second, third = workspace(tmp_path), workspace(tmp_path), workspace(tmp_path, seed=1)
    assert first.X.shape[0] == first.y.size == 20
    assert (first.X != second.X).nnz == 0
    assert (first.X != third.X).nnz > 0
    assert isinstance(first, Workspace)
    assert not first.is_papers
