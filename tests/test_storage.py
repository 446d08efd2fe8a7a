"""Guards on disk: what comes back is what was saved, and nothing else is read."""

from __future__ import annotations

import contextlib
import json
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression

import attriguard as ag
from attriguard.errors import DataError, GuardFileError, ParameterError
from attriguard.noise.carlini_wagner import CarliniWagner
from attriguard.noise.exact import Exact
from attriguard.noise.fgsm import FGSM
from attriguard.noise.jsma import JSMA
from attriguard.storage import HEADER, OLD_VERSION, read_state


def same_plan(one, two):
    return (one.edits.items == two.edits.items).all() and (one.probabilities == two.probabilities).all()


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"policy": "add_new", "search": "panda", "target": "uniform", "budget": 2.5, "confidence": "auto"},
        {"target": [0.1, 0.2, 0.3, 0.4], "scale": (1, 5, 1), "step": 0.4, "cost": "l2", "maxiter": 50},
        {"classifier": LogisticRegression(C=2.0), "locked": [3, 5], "additions": [1, 2, 3, 4, 5, 6, 7, 8]},
        {"additions": {1: 2, 2: 3, 9: 5}, "scale": (1, 5, 1), "policy": "add_new"},
    ],
)
def test_a_guard_comes_back_as_it_was(tmp_path, small_twin, parameters):
    train, test = small_twin.split()
    guard = ag.AttriGuard(**parameters).fit(train.X, train.y, items=train.items, values=train.values)
    guard.save(tmp_path / "city.guard")
    loaded = ag.load_guard(tmp_path / "city.guard")
    assert same_plan(guard.plan(test.X), loaded.plan(test.X))
    assert loaded.values_ == guard.values_
    assert loaded.items_.tolist() == guard.items_.tolist()
    for name in ("policy", "search", "budget", "step", "confidence", "cost", "maxiter", "locked", "additions"):
        assert getattr(loaded, name) == getattr(guard, name)
    assert [file.name for file in tmp_path.iterdir()] == ["city.guard"]


@pytest.mark.parametrize(
    "search", [JSMA(pairs=True), Exact(time_limit=7.0), FGSM(epsilon=0.5), CarliniWagner(lead=0.2)]
)
def test_the_options_of_a_search_are_kept(tmp_path, small_guard, search):
    guard = deepcopy(small_guard).set_params(search=search)
    guard.save(tmp_path / "a.guard")
    loaded = ag.load_guard(tmp_path / "a.guard")
    assert type(loaded.search) is type(search)
    assert vars(loaded.search) == vars(search)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": -1}, "negative"),
        ({"goal": "conceal"}, "learnt with goal='mislead'"),
        ({"search": "fgsm", "policy": "add_new"}, "no policies"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(tmp_path, small_guard, parameters, message):
    with pytest.raises(ParameterError, match=message):
        deepcopy(small_guard).set_params(**parameters).save(tmp_path / "a.guard")
    assert not list(tmp_path.iterdir())


def test_a_guard_from_a_file_is_fitted_again_with_a_classifier_that_can_learn(tmp_path, small_twin):
    train = small_twin.train
    ag.AttriGuard(LogisticRegression(C=0.3)).fit(train.X, train.y).save(tmp_path / "a.guard")
    loaded = ag.load_guard(tmp_path / "a.guard")
    with pytest.raises(ParameterError, match="came from a file"):
        loaded.fit(train.X, train.y)
    assert loaded.set_params(classifier="lr").fit(train.X, train.y).counts_.sum() == train.n_users


def test_metadata_travels_with_the_guard(tmp_path, small_guard):
    small_guard.save(tmp_path / "a.guard", metadata={"attribute": "city"})
    assert ag.load_guard(tmp_path / "a.guard").metadata_ == {"attribute": "city"}
    assert small_guard.metadata_ == {}


OLD_GUARDS = Path(__file__).parent / "fixtures" / "guards"
EXPECTED = json.loads((OLD_GUARDS / "plans.json").read_text())


@pytest.fixture(scope="module")
def old_users():
    """The users that the old guards' plans were made for."""
    return ag.load_dataset("twin", n_users=240, n_items=40, n_values=3).split(random_state=0)[1]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_guards_written_before_goals_were_objects_still_load(name, old_users):
    guard = ag.load_guard(OLD_GUARDS / f"{name}.guard")
    plan = guard.plan(old_users.X)
    assert guard.metadata_ == {"attribute": "city"}
    assert plan.inferred[:8].tolist() == EXPECTED[name]["inferred"]
    assert plan.cost.sum(axis=1)[:8] == pytest.approx(EXPECTED[name]["cost"], abs=1e-4)
    assert plan.probabilities[:4] == pytest.approx(np.array(EXPECTED[name]["probabilities"]), abs=1e-5)


def test_the_oldest_guards_say_neither_their_goal_nor_their_kind(tmp_path, old_users):
    header, tensors = read_file(OLD_GUARDS / "mislead.guard")
    assert header["format_version"] == OLD_VERSION
    for name in ("learnt", "classifier_kind", "search_options"):
        del header[name]
    for name in ("goal", "members", "split"):
        del header["parameters"][name]
    save_file(tensors, tmp_path / "oldest.guard", {HEADER: json.dumps(header)})
    guard, known = ag.load_guard(tmp_path / "oldest.guard"), ag.load_guard(OLD_GUARDS / "mislead.guard")
    assert (guard.goal, guard.goal_) == ("mislead", "mislead")
    assert same_plan(guard.plan(old_users.X), known.plan(old_users.X))
    header["learnt"] = {"goal": "conceal", "split": 1.0, "members": 2}
    save_file(tensors, tmp_path / "lost.guard", {HEADER: json.dumps(header)})
    with pytest.raises(GuardFileError, match="damaged"):
        ag.load_guard(tmp_path / "lost.guard")


def test_old_guards_are_written_in_the_new_format(tmp_path, old_users):
    old = ag.load_guard(OLD_GUARDS / "both.guard")
    old.save(tmp_path / "new.guard")
    assert read_file(tmp_path / "new.guard")[0]["format_version"] == 3
    assert same_plan(old.plan(old_users.X), ag.load_guard(tmp_path / "new.guard").plan(old_users.X))
    assert set(read_state(tmp_path / "new.guard").learnt.models) == {"classifier", "ensemble"}


def read_file(path):
    with safe_open(path, framework="numpy") as opened:
        return json.loads(opened.metadata()[HEADER]), {k: opened.get_tensor(k) for k in opened.keys()}  # noqa: SIM118


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(DataError, match="no file"):
        ag.load_guard(tmp_path / "none.guard")
    with pytest.raises(DataError, match="folder"):
        ag.load_guard(tmp_path)


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "x.guard"
    path.write_text("user,item,rating\n1,2,3\n")
    with pytest.raises(GuardFileError, match="not a guard"):
        ag.load_guard(path)
    save_file({"coef": np.zeros((2, 2))}, path)
    with pytest.raises(GuardFileError, match="but not a guard"):
        ag.load_guard(path)
    save_file({"coef": np.zeros((2, 2))}, path, metadata={HEADER: "{not json"})
    with pytest.raises(GuardFileError, match="damaged"):
        ag.load_guard(path)
    header = {"format": "attriguard guard", "format_version": 99}
    save_file({"coef": np.zeros((2, 2))}, path, metadata={HEADER: json.dumps(header)})
    with pytest.raises(GuardFileError, match="format 99"):
        ag.load_guard(path)
    header["format_version"] = 1
    save_file({"coef": np.zeros((2, 2))}, path, metadata={HEADER: json.dumps(header)})
    with pytest.raises(GuardFileError, match="do not fit together"):
        ag.load_guard(path)


@given(data=st.data())
def test_damaged_files_are_refused_or_harmless(tmp_path_factory, small_guard, data):
    folder = tmp_path_factory.mktemp("damaged")
    small_guard.save(folder / "g")
    content = bytearray((folder / "g").read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        place = data.draw(st.integers(0, min(len(content), 4000) - 1))
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    (folder / "g").write_bytes(content)
    with contextlib.suppress(DataError):
        ag.load_guard(folder / "g")
