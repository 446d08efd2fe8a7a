"""``attriguard guard``: the card of a guard file, and a guard that others may have."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

import attriguard as ag
from attriguard.errors import GuardFileError


@pytest.fixture
def city(tmp_path, small_twin):
    """A guard file with much in it that is nobody else's business."""
    path = tmp_path / "city.guard"
    guard = ag.learn(small_twin.train, goal="both", members=2, split=0.5, random_state=0)
    measured = {"users": 90, "changes": 4.0, "guess": 0.4, "before": 0.7, "after": 0.5}
    guard.save(path, metadata={"folder": "/home/me/patients", "measured": measured, "licence": "mine"})
    return path


def test_a_card_says_what_a_guard_is(cli, city):
    code, out, err = cli("guard", "show", city)
    assert (code, err) == (0, "")
    for line in (
        "attribute  city",
        "users      810",
        "remembers  810 users, as salted hashes",
        "serves     mislead, conceal, both",
        "items      300, rated 1 to 5 in steps of 1",
        "licence    mine",
        "measured   of 90 users that it did not learn from, its own classifier is right about 70% (40% by guessing), "
        "and about 50% after 4 changes that conceal",
        f"sha256     {hashlib.sha256(city.read_bytes()).hexdigest()}",
    ):
        assert f"  {line}\n" in out


def test_a_card_as_json(cli, city):
    card = json.loads(cli("guard", "show", city, "--json")[1])
    assert (card["users"], card["items"], card["remembered_users"]) == (810, 300, 810)
    assert card["metadata"]["measured"]["before"] == 0.7
    assert sum(card["shares"]) == pytest.approx(1.0)


def test_a_shared_guard_holds_nobody(cli, city, tmp_path, small_twin):
    code, out, err = cli("guard", "share", city, "--output", tmp_path / "public.guard", "--licence", "CC0")
    assert (code, err) == (0, "")
    assert "users      about 810" in out
    assert "remembers  no users" in out
    assert "licence    CC0" in out
    assert out.endswith(f"wrote {tmp_path / 'public.guard'}\n")
    shared, own = ag.load_guard(tmp_path / "public.guard"), ag.load_guard(city)
    assert not shared.has_learnt_from(small_twin.train.users).any()
    assert own.has_learnt_from(small_twin.train.users).all()
    assert shared.counts_.sum() == 10_000
    assert b"patients" in city.read_bytes()
    assert b"patients" not in (tmp_path / "public.guard").read_bytes()
    assert set(shared.metadata_) == {"attribute", "rated", "users", "date", "licence", "measured"}


def test_a_shared_guard_protects_as_it_did(cli, city, tmp_path, small_twin):
    cli("guard", "share", city, "--output", tmp_path / "public.guard", "-q")
    X = small_twin.test.X
    released = []
    for path in (city, tmp_path / "public.guard"):
        guard = ag.load_guard(path).set_params(goal="mislead")
        released.append(guard.plan(X, budget=3).release(key="a key that is long enough"))
        edits = guard.set_params(goal="conceal").plan(X, budget=3).edits
        released.append(edits.items)
    np.testing.assert_array_equal(released[1], released[3])
    assert np.mean([(a != b).nnz == 0 for a, b in zip(released[0], released[2], strict=True)]) > 0.95


def test_a_shared_guard_can_be_signed(cli, city, tmp_path):
    (tmp_path / "my.key").write_text("a key that is long enough\n")
    cli("guard", "share", city, "--output", tmp_path / "public.guard", "--sign", f"@{tmp_path / 'my.key'}", "-q")
    assert ag.load_guard(tmp_path / "public.guard", key="a key that is long enough").goal == "both"
    with pytest.raises(GuardFileError, match="not signed with this key"):
        ag.load_guard(tmp_path / "public.guard", key="another key that is long")


@pytest.mark.parametrize("mark", ["informed", "own_users"])
def test_a_guard_that_knows_the_users_it_protects_is_not_shared(cli, city, tmp_path, mark):
    guard = ag.load_guard(city)
    guard.save(city, metadata={mark: True})
    code, _, err = cli("guard", "share", city, "--output", tmp_path / "public.guard")
    assert code == 2
    assert "has learnt from the very users it protects" in err
    assert not (tmp_path / "public.guard").exists()


def test_a_guard_is_not_shared_over_itself(cli, city):
    before = city.read_bytes()
    code, _, err = cli("guard", "share", city, "--output", city)
    assert code == 2
    assert "would be overwritten" in err
    assert city.read_bytes() == before


def test_what_is_no_guard_is_told_in_a_line(cli, tmp_path):
    (tmp_path / "x.guard").write_text("nothing")
    for name, told in (("x.guard", "is not a guard, or is damaged"), ("y.guard", "there is no file")):
        code, out, err = cli("guard", "show", tmp_path / name)
        assert (code, out) == (2, "")
        assert told in err
        assert len(err.splitlines()) == 1
