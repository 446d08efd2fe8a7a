"""Guards on disk: what comes back is what was saved, and nothing else is read."""

from __future__ import annotations

import json
import stat
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression

import attriguard as ag
from attriguard.data.sealed import digest_of
from attriguard.errors import DataError, GuardFileError, ParameterError
from attriguard.noise.carlini_wagner import CarliniWagner
from attriguard.noise.exact import Exact
from attriguard.noise.fgsm import FGSM
from attriguard.noise.jsma import JSMA
from attriguard.storage import HEADER, OLD_VERSION, UNSEALED_VERSION, read_state


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


@pytest.fixture(scope="module")
def saved(tmp_path_factory, small_guard):
    """The bytes of a guard file, and the tensors in it."""
    path = tmp_path_factory.mktemp("saved") / "a.guard"
    small_guard.save(path)
    return path.read_bytes(), read_file(path)


@pytest.mark.parametrize("seed", range(300))
def test_a_damaged_guard_is_refused(tmp_path, saved, seed):
    content, path, chance = bytearray(saved[0]), tmp_path / "a.guard", np.random.default_rng(seed)
    # Half of the damage to the header, which is where it hurts most.
    where = int(chance.integers(len(content) if seed % 2 else 6000))
    match seed % 5:
        case 0:
            content = content[:where]
        case 1:
            content += bytes(chance.integers(256, size=1 + seed % 9, dtype=np.uint8))
        case 2:
            content[where : where + 8] = bytes(chance.integers(256, size=8, dtype=np.uint8))
        case _:
            content[where] ^= 1 << int(chance.integers(8))
    path.write_bytes(content)
    with pytest.raises(GuardFileError, match=r"^[^\n]*damaged[^\n]*attriguard fit$|^[^\n]*not a guard[^\n]*$"):
        ag.load_guard(path)


DEEP = "[" * 100_000 + "]" * 100_000
# Changes to the header of a guard without a digest.
FORGED = [
    {"n_items": 10**30}, {"n_items": 1e400}, {"n_items": -1}, {"n_items": True}, {"items": [1, 2]}, {"items": [[1]]},
    {"items": [None] * 300}, {"classes": [1, 1, 1, 1]}, {"classes": []}, {"classes": [[1], [2]]}, {"values": []},
    {"seen": "zz"}, {"seen": "00"}, {"metadata": 3}, {"parameters": []}, {"learnt": None},
    {"learnt.counts": [10**30] * 4}, {"learnt.counts": [2**62] * 4}, {"learnt.counts": [-1, 5, 5, 5]},
    {"learnt.counts": [0] * 4}, {"learnt.counts": [1e308] * 4}, {"learnt.split": 1e400}, {"learnt.split": -1},
    {"learnt.split": "much"}, {"learnt.goal": 3}, {"learnt.models": {}}, {"learnt.models": {"classifier": "x"}},
    {"learnt.models": {"classifier": "os:system"}}, {"learnt.models": {"classifier": []}},
    {"parameters.search": "os:system"}, {"parameters.search": []}, {"parameters.search_options": {"x": 1}},
    {"parameters.scale": [0, 1e308, 1e-308]}, {"parameters.scale": [5, 1]}, {"parameters.scale": [1, 5, 0]},
    {"parameters.scale": 7}, {"parameters.budget": -1}, {"parameters.budget": "x"}, {"parameters.step": 1e400},
    {"parameters.maxiter": 1e400}, {"parameters.locked": 5}, {"parameters.additions": [[]]},
    {"parameters.additions": 5}, {"parameters.classifier_options": {"hidden": "x", "nothing": 1}},
    {"parameters.goal": "rule"}, {"parameters.goal": "a_trap:Goal"}, {"parameters.cost": "a_trap:Cost"},
    {"parameters.search": "a_trap:Search"}, {"learnt.models": {"classifier": "a_trap:Kind"}},
    {"parameters.classifier": "a_trap:Kind"},
    {"parameters.target": 5}, {"parameters.policy": {}}, {"format_version": None},
    {"format_version": []}, {"format_version": 10**30},
]  # fmt: skip


@pytest.mark.parametrize("change", FORGED, ids=str)
def test_a_guard_without_a_digest_is_checked_all_the_same(tmp_path, saved, change, monkeypatch):
    (tmp_path / "a_trap.py").write_text("raise SystemExit('code from a guard was run')")
    monkeypatch.syspath_prepend(tmp_path)
    header, tensors = deepcopy(saved[1])
    header["format_version"] = UNSEALED_VERSION
    save_file(tensors, tmp_path / "a.guard", {HEADER: json.dumps(header)})
    assert ag.load_guard(tmp_path / "a.guard").values_
    ((name, value),) = change.items()
    *outer, last = name.split(".")
    place = header
    for part in outer:
        place = place[part]
    place[last] = value
    save_file(tensors, tmp_path / "a.guard", {HEADER: json.dumps(header)})
    with pytest.raises(GuardFileError) as caught:
        ag.load_guard(tmp_path / "a.guard")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("text", [DEEP, DEEP.replace("[", '{"a":').replace("]", "}"), "9" * 5000, '{"format": ' + DEEP])
def test_deep_json_is_no_guard(tmp_path, text):
    save_file({"coef": np.zeros((2, 2))}, tmp_path / "a.guard", {HEADER: text})
    with pytest.raises(GuardFileError, match="is damaged"):
        ag.load_guard(tmp_path / "a.guard")


def nan_in(array):
    array = array.copy()
    array.flat[0] = np.nan
    return array


@pytest.mark.parametrize(
    "change",
    [
        lambda part: part[..., :-1],
        lambda part: part.T,
        lambda part: part.ravel()[:0],
        lambda part: nan_in(part),
        lambda part: part * np.inf,
        lambda part: part.astype(np.int64),
        lambda part: part > 0,
        lambda part: part + 1e300,
    ],
)
@pytest.mark.parametrize("name", ["both", "network", "panda-one-vs-all"])
def test_tensors_of_old_guards_are_checked(tmp_path, name, change):
    header, tensors = read_file(OLD_GUARDS / f"{name}.guard")
    for part in tensors.keys() - {"target"}:  # which these guards have by name
        with np.errstate(invalid="ignore"):
            changed = np.ascontiguousarray(change(tensors[part].astype(np.float64)))
        if np.array_equal(changed, tensors[part]) and changed.dtype.kind == "f":
            continue  # a vector is its own transpose
        save_file(tensors | {part: changed}, tmp_path / "a.guard", {HEADER: json.dumps(header)})
        with pytest.raises(GuardFileError, match="damaged"):
            ag.load_guard(tmp_path / "a.guard")


def test_a_new_guard_cannot_pass_for_an_old_one(tmp_path, saved):
    header, tensors = deepcopy(saved[1])
    save_file(tensors, tmp_path / "a.guard", {HEADER: json.dumps(header)})
    with pytest.raises(GuardFileError, match="no digest"):
        ag.load_guard(tmp_path / "a.guard")
    header["format_version"] = UNSEALED_VERSION
    save_file(tensors, tmp_path / "a.guard", {HEADER: json.dumps(header), "digest": "0" * 64})
    with pytest.raises(GuardFileError, match="damaged"):
        ag.load_guard(tmp_path / "a.guard")


KEY, OTHER = b"a secret of the publisher's", "another publisher's secret"


def test_a_signature_tells_the_publishers_own_guard(tmp_path, small_guard):
    path, key_file = tmp_path / "a.guard", tmp_path / "secret.key"
    key_file.write_bytes(KEY + b"\n")
    small_guard.save(path, key=KEY)
    for key in (KEY, KEY.decode(), key_file, None):
        assert ag.load_guard(path, key=key).values_ == small_guard.values_
    with pytest.raises(GuardFileError, match="not signed with this key"):
        ag.load_guard(path, key=OTHER)
    small_guard.save(path)
    with pytest.raises(GuardFileError, match="is not signed;"):
        ag.load_guard(path, key=KEY)
    with pytest.raises(GuardFileError, match="is not signed;"):
        ag.load_guard(OLD_GUARDS / "both.guard", key=KEY)
    with pytest.raises(ParameterError, match="guessed"):
        small_guard.save(path, key=b"x")
    assert KEY not in path.read_bytes()


def test_whoever_has_not_the_key_cannot_change_a_signed_guard(tmp_path, small_guard):
    path = tmp_path / "a.guard"
    small_guard.save(path, key=KEY)
    header, tensors = read_file(path)
    with safe_open(path, framework="numpy") as opened:
        signature = opened.metadata()["signature"]
    tensors["classifier.coef"] = -tensors["classifier.coef"]
    text = json.dumps(header)
    metadata = {HEADER: text, "digest": digest_of(HEADER, text, tensors), "signature": signature}
    save_file(tensors, path, metadata)  # a digest that is right, and a signature that was copied
    assert ag.load_guard(path).values_
    with pytest.raises(GuardFileError, match="changed since"):
        ag.load_guard(path, key=KEY)


@pytest.mark.posix
def test_a_guard_is_its_owners_alone(tmp_path, small_guard):
    path = tmp_path / "a.guard"
    path.touch(0o644)
    small_guard.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_code_that_a_guard_names_is_loaded_by_its_owner_alone(tmp_path, small_guard, monkeypatch):
    (tmp_path / "own_search.py").write_text("from attriguard.noise.greedy import Panda\nclass Own(Panda): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    guard, path = deepcopy(small_guard).set_params(search="own_search:Own"), tmp_path / "a.guard"
    guard.save(path, key=KEY)
    monkeypatch.delitem(sys.modules, "own_search")
    with pytest.raises(GuardFileError, match="the module 'own_search'; if you trust both, import that first"):
        ag.load_guard(path)
    assert "own_search" not in sys.modules
    assert ag.load_guard(path, key=KEY).search == "own_search:Own"  # signed: one's own
    assert ag.load_guard(path).search == "own_search:Own"  # and loaded since
