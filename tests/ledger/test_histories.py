"""Histories: users rate, rate anew, delete, leave and come back; no release tells what an earlier one hid."""

from __future__ import annotations

import dataclasses
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.ledger.entries import Entries
from attriguard.ledger.met import Met
from attriguard.ledger.standing import stand
from attriguard.ledger.store import Ledger

KEY = b"0123456789abcdef"
USERS, ITEMS, RELEASES = 500, 40, 6


@pytest.fixture(scope="module")
def guards():
    """Two guards for the same attribute and scale, learnt from different items: the second is "learnt anew"."""
    data = ag.load_dataset("twin", n_users=500, n_items=ITEMS, n_values=3, seed=5)
    made = []
    for items in (data.items[:32], data.items[6:]):
        table = data.to_arrow()
        mine = table.filter(pa.array(np.isin(table.column("item").to_numpy(), items)))
        known = pa.table({"user": data.users, "city": [data.values[code] for code in data.y]})
        made.append(
            ag.learn(mine, attributes=known, attribute="city", scale=data.scale, unmatched="drop", goal="both",
                     split=0.5, members=1, budget=2.0, random_state=0)
        )  # fmt: skip
    return data, made


def histories(data, seed, users=USERS):
    """For every release the ratings of each user who is there: {user: {item: rating}}, one random history a user."""
    rng = np.random.default_rng(seed)
    items, ratings = data.items.tolist(), np.arange(1, 6)
    now = {u: {} for u in range(users)}
    for _ in range(RELEASES):
        for mine in now.values():
            what = rng.choice(["nothing", "rate", "delete", "anew", "all"], p=[0.3, 0.4, 0.1, 0.1, 0.1])
            if what in ("rate", "all") or not mine:
                for item in rng.choice(items, rng.integers(1, 8)):
                    mine.setdefault(int(item), int(rng.choice(ratings)))
            if what in ("delete", "all"):
                for item in rng.choice(list(mine), rng.integers(1, len(mine) + 1)):
                    mine.pop(int(item), None)
            if what in ("anew", "all") and mine:
                mine[int(rng.choice(list(mine)))] = int(rng.choice(ratings))
        there = {u: dict(mine) for u, mine in now.items() if mine and rng.random() < 0.85}
        yield there


def as_table(rows):
    triples = [(u, i, r) for u, mine in rows.items() for i, r in mine.items()]
    user, item, rating = zip(*triples, strict=True)
    return pa.table({"user": user, "item": item, "rating": rating})


def as_rows(table):
    found = defaultdict(dict)
    for u, i, r in zip(*(table.column(name).to_pylist() for name in ("user", "item", "rating")), strict=True):
        assert i not in found[u]
        found[u][i] = r
    return found


class Witness:
    """What the rules ask for, told from tables and releases alone."""

    def __init__(self):
        self.hidden, self.added, self.changed = defaultdict(set), defaultdict(dict), defaultdict(dict)
        self.told, self.last = defaultdict(set), {}

    def expects(self, u, own):
        """What must be shown of a user's old items, and what must not."""
        shown = dict(self.added[u])
        for item, rating in own.items():
            if item not in self.hidden[u] and item not in shown and item in self.told[u]:
                shown[item] = self.changed[u].get(item, rating)
        return shown

    def check(self, own_rows, shown_rows):
        for u, own in own_rows.items():
            shown, expected = shown_rows[u], self.expects(u, own)
            old = self.hidden[u] | self.told[u] | set(self.added[u])
            assert {i: r for i, r in shown.items() if i in old} == expected
            if u in self.last and self.last[u][0] == own:
                assert shown == self.last[u][1]
            self.last[u] = own, dict(shown)
            for item, rating in own.items():
                if item in old:
                    continue
                if item not in shown:
                    self.hidden[u].add(item)
                else:
                    self.told[u].add(item)
                    if shown[item] != rating:
                        self.changed[u][item] = shown[item]
            for item in set(shown) - set(own) - old:
                self.added[u][item] = shown[item]


WAYS = {
    "mislead": {"goal": "mislead"},
    "conceal": {"goal": "conceal", "budget": 1.5},
    "both": {"goal": "both", "budget": 3.0},
    "add_new": {"goal": "mislead", "policy": "add_new", "added_ratings": "top"},
    "modify_exist": {"goal": "mislead", "policy": "modify_exist"},
    "everyone": {"goal": "conceal", "budget_over": "everyone", "budget": 1.0},
}


@pytest.mark.parametrize("way", WAYS)
def test_no_release_tells_what_an_earlier_one_hid(tmp_path, guards, way):
    data, made = guards
    witness, ever = Witness(), 4
    for n, own in enumerate(histories(data, seed=len(way))):
        guard = made[n // 3]  # learnt anew after three releases
        released = ag.protect(as_table(own), guard, key=KEY, ledger=tmp_path / "l", budget_ever=ever, **WAYS[way])
        witness.check(own, as_rows(released.table))
        released.save(tmp_path / "released.csv")
    changes = [len(witness.hidden[u]) + len(witness.added[u]) + len(witness.changed[u]) for u in range(USERS)]
    assert max(changes) == ever  # somebody has used up what there is for ever, and nobody has had more
    assert sum(map(len, witness.hidden.values())) > 50 or way == "add_new"
    assert sum(map(len, witness.added.values())) > 50 or way in ("conceal", "everyone", "modify_exist")
    ag.check_ledger(tmp_path / "l", key=KEY, guard=made[1])


def any_way(rng):
    """How one release is made: whatever a publisher may choose anew each month."""
    policies = ["modify_add", "modify_add", "add_new", "modify_exist"]
    goal = rng.choice(["mislead", "conceal", "both"])
    return {
        "goal": str(goal),
        "policy": "modify_add" if goal != "mislead" else str(rng.choice(policies)),
        "budget": float(rng.choice([0.5, 1.5, 3.0])),
        "budget_over": str(rng.choice(["user", "everyone"])) if goal == "conceal" else "user",
        "added_ratings": str(rng.choice(["drawn", "top"])),
        "budget_ever": int(rng.choice([2, 4, 9])),  # less than is spent already, sometimes
        "most": int(rng.choice([1, 5])),
    }


def dated(rows, minutes, n):
    """A table with the minute of each rating, which comes later in later months; the first month has none."""
    table = as_table(rows)
    pairs = zip(table["user"].to_pylist(), table["item"].to_pylist(), strict=True)
    when = [minutes.setdefault(pair, n * 100_000 + len(minutes)) for pair in pairs]
    times = np.datetime64("2020-01-01", "us") + np.array(when).astype("timedelta64[m]")
    return table.append_column("time", pa.array(times)) if n else table


@pytest.mark.parametrize("seed", range(3))
def test_whatever_changes_between_releases_nothing_hidden_is_told(tmp_path, guards, seed):
    """Goals, policies, budgets, guards and engines change at will, users are forgotten, and rows have times."""
    data, made = guards
    rng, witness, n_users = np.random.default_rng(seed), Witness(), 120
    minutes, made_up = {}, {}
    for n, own in enumerate(histories(data, seed=100 + seed, users=n_users)):
        for user in rng.choice(n_users, 3 * (n > 2)).tolist():
            ag.forget_user(tmp_path / "l", user, key=KEY)
            for known in (witness.hidden, witness.added, witness.changed, witness.told, witness.last):
                known.pop(user, None)
            made_up = {pair: row for pair, row in made_up.items() if pair[0] != user}
        table = dated(own, minutes, n)
        guard, given = made[int(rng.integers(2))], {"key": KEY, "ledger": tmp_path / "l", **any_way(rng)}
        released = ag.protect(table, guard, **given)
        released.save(tmp_path / "released.parquet")
        witness.check(own, as_rows(released.table))
        for row in released.table.to_pylist():
            pair = row["user"], row["item"]
            if pair[1] in witness.added[pair[0]]:
                assert made_up.get(pair, row).items() <= row.items()  # as it came; the first month has no times
                made_up[pair] = row
            elif n:
                assert row["time"] == np.datetime64("2020-01-01", "us") + np.timedelta64(minutes[pair], "m")
    assert sum(map(len, witness.hidden.values())) > 20
    assert len(made_up) > 10
    ag.check_ledger(tmp_path / "l", key=KEY, guard=made[1])


@pytest.mark.parametrize("way", ["mislead", "both"])
def test_no_release_in_parts_tells_what_an_earlier_one_hid(tmp_path, guards, way, monkeypatch):
    """A hundred histories through the embedded engine, in as many parts as the month's number says."""
    pytest.importorskip("duckdb")
    monkeypatch.setenv("ATTRIGUARD_THREADS", "1")
    data, made = guards
    witness, ever = Witness(), 4
    for n, own in enumerate(histories(data, seed=7, users=100)):
        pq.write_table(as_table(own), tmp_path / f"{n}.parquet")
        given = {"key": KEY, "ledger": tmp_path / "l", "budget_ever": ever, **WAYS[way]}
        ag.protect_files(tmp_path / f"{n}.parquet", made[n // 3], tmp_path / f"out{n}", parts=1 + n, **given)
        parts = [pq.read_table(path) for path in (tmp_path / f"out{n}").glob("part-*.parquet")]
        witness.check(own, as_rows(pa.concat_tables(parts)))
    changes = [len(witness.hidden[u]) + len(witness.added[u]) + len(witness.changed[u]) for u in range(100)]
    assert max(changes) == ever
    assert sum(map(len, witness.hidden.values())) > 10
    assert sum(map(len, witness.added.values())) > 10
    ag.check_ledger(tmp_path / "l", key=KEY, guard=made[1])


@pytest.mark.parametrize("way", ["mislead", "conceal", "both"])
@pytest.mark.parametrize("more", [False, True])
def test_users_of_whom_nothing_is_new_are_released_as_if_they_had_been_met_one_by_one(tmp_path, guards, way, more):
    data, made = guards
    quick, slow = [], []
    for found, place in ((quick, tmp_path / "quick"), (slow, tmp_path / "slow")):
        with pytest.MonkeyPatch.context() as patch:
            if found is slow:
                patch.setattr(Met, "unchanged", property(lambda met: np.zeros(met.hashes.size, dtype=np.bool_)))
            for n, own in enumerate(histories(data, seed=3, users=80)):
                table = as_table(own)
                if more:  # a column whose cells the ledger keeps
                    table = table.append_column("day", pa.array(np.arange(table.num_rows) // 3 + 20_000 + 100 * n))
                    table = table.set_column(3, "day", table["day"].cast(pa.int32()).cast(pa.date32()))
                released = ag.protect(table, made[n // 3], key=KEY, ledger=place, **WAYS[way])
                released.save(tmp_path / f"{place.name}.csv")
                found.append(released)
    for one, other in zip(quick, slow, strict=True):
        assert one.table.equals(other.table)
    for name in ("quick", "slow"):
        ag.check_ledger(tmp_path / name, key=KEY, guard=made[1])
    entries = [Ledger.open(tmp_path / name, KEY, "city").entries for name in ("quick", "slow")]
    for field in dataclasses.fields(Entries):
        assert np.array_equal(*(getattr(each, field.name) for each in entries)), field.name


def test_own_ratings_are_what_users_have_ever_rated(guards):
    """Whatever was hidden, added or deleted since: the target of a later release is decided by these."""
    data, rng = guards[0], np.random.default_rng(0)
    numbers = np.arange(data.n_users, dtype=np.uint64)
    X = data.X.toarray()

    def some(share):
        return dataclasses.replace(data, X=csr_array(X * (rng.random(X.shape) < share)), source=None)

    early, later = some(0.5), some(0.9)
    first = stand(early, early.items, Entries.of_arrow([]), numbers)
    assert (first.own != first.known).nnz == 0
    hidden, added = rng.random(X.shape) < 0.3, np.where((X == 0) & (rng.random(X.shape) < 0.1), np.float32(0.4), 0)
    released = csr_array((early.X.toarray() * ~hidden + added).astype(np.float32))
    row, told = first.told_now(released, np.zeros(data.n_users, dtype=np.int64), 1)
    second = stand(later, later.items, dataclasses.replace(told, user=numbers[row]), numbers)
    ever = np.maximum(early.X.toarray(), later.X.toarray())
    assert (ever != later.X.toarray()).any()
    np.testing.assert_array_equal(second.own.toarray(), ever[second.news])
    assert (second.own != second.known).nnz > data.n_users


def test_a_user_is_unchanged_only_where_every_rating_is(guards):
    """By a random factor for each item: one rating more, one fewer or another one is noticed, each time anew."""
    data, _ = guards
    hashes = np.arange(data.n_users, dtype=np.uint64)
    first = Met(data, data.items, Entries.of_arrow([]), hashes)
    row, told = first.standing.told_now(data.X, np.zeros(data.n_users, dtype=np.int64), 1)
    entries = dataclasses.replace(told, user=hashes[row])
    assert not first.unchanged.any()
    assert Met(data, data.items, entries, hashes).unchanged.all()
    other = data.X.toarray()
    other[::3, 0] = np.where(other[::3, 0] == 1.0, 0.0, 1.0)
    other[1::3, 1] = np.where(other[1::3, 1] == 0.4, 0.8, 0.4)
    changed = (other != data.X.toarray()).any(axis=1)
    again = dataclasses.replace(data, X=csr_array(other.astype(np.float32)), source=None)
    assert np.array_equal(Met(again, data.items, entries, hashes).unchanged, ~changed)


def test_without_a_ledger_a_key_alone_shows_again_what_was_hidden(guards):
    data, made = guards
    witness = Witness()
    first, second, *_ = histories(data, seed=1)
    shown = [as_rows(ag.protect(as_table(own), made[0], key=KEY, goal="conceal").table) for own in (first, second)]
    witness.check(first, shown[0])
    with pytest.raises(AssertionError):
        witness.check(second, shown[1])
