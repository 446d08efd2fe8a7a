"""The rules of docs/ledger.md, one by one, on tables that a person can read; the other columns; and the command."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import attriguard as ag
from attriguard.cli import app
from attriguard.cli._shell import run
from attriguard.errors import DataError, ParameterError
from attriguard.progress import Progress

KEY = b"0123456789abcdef"


@pytest.fixture(scope="module")
def data():
    return ag.load_dataset("twin", n_users=400, n_items=60, n_values=2, seed=3)


@pytest.fixture(scope="module")
def guard(data):
    return ag.learn(data, goal="both", split=0.5, members=1, budget=2.0, random_state=0)


@pytest.fixture
def release(tmp_path, guard):
    """Protect rows {(user, item): rating} with the ledger of this test, and save; what is shown, as such rows."""

    def protect(rows, goal="conceal", guard=guard, **options):
        user, item, rating = zip(*[(u, i, r) for (u, i), r in rows.items()], strict=True)
        table = pa.table({"user": user, "item": item, "rating": rating})
        released = ag.protect(table, guard, key=KEY, ledger=tmp_path / "l", goal=goal, **options)
        released.save(tmp_path / "out.csv")
        found = released.table.to_pylist()
        return {(row["user"], row["item"]): row["rating"] for row in found}

    return protect


def rows_of(data, users, items=slice(None)):
    X = data.X[users].tocoo()
    ratings = np.rint(data.scale.from_unit(X.data)).astype(int)
    chosen = set(data.items[items].tolist())
    triples = zip(data.users[users][X.row].tolist(), data.items[X.col].tolist(), ratings.tolist(), strict=True)
    return {(u, i): r for u, i, r in triples if i in chosen}


@pytest.fixture
def told(data, release):
    """Ten users, released once: what they had, what was shown, and what was hidden."""
    rows = rows_of(data, np.arange(10))
    shown = release(rows)
    return rows, shown, set(rows) - set(shown)


def test_hidden_stays_hidden_and_only_new_ratings_are_hidden(data, release, told):
    rows, shown, hidden = told
    assert len(hidden) == 20
    assert release(rows) == shown
    user = next(iter(hidden))[0]
    new = {(user, item): 5 for item in data.items.tolist() if (user, item) not in rows}
    again = release(rows | dict(list(new.items())[:6]))
    assert not hidden & set(again)
    assert {pair: r for pair, r in again.items() if pair in rows} == shown
    assert len(set(again) & set(new)) == 4  # two of six new ones are hidden


def test_a_deleted_rating_leaves_the_release_and_is_told_again_where_it_comes_back(release, told):
    rows, shown, _ = told
    gone = next(iter(shown))
    less = {pair: r for pair, r in rows.items() if pair != gone}
    assert release(less) == {pair: r for pair, r in shown.items() if pair != gone}
    assert release(rows) == shown


def test_a_hidden_rating_that_was_deleted_stays_hidden_when_it_comes_back(release, told):
    rows, shown, hidden = told
    gone = next(iter(hidden))
    release({pair: r for pair, r in rows.items() if pair != gone})
    assert release(rows | {gone: 1}) == shown


def test_a_rating_that_was_told_follows_the_user(release, told):
    rows, shown, _ = told
    pair = next(pair for pair in shown if rows[pair] != 3)
    assert release(rows | {pair: 3})[pair] == 3


def test_a_user_who_comes_back_has_the_same_past(release, told):
    rows, shown, _ = told
    user = next(iter(rows))[0]
    others = {pair: r for pair, r in rows.items() if pair[0] != user}
    assert release(others) == {pair: r for pair, r in shown.items() if pair[0] != user}
    assert release(rows) == shown


def test_an_added_rating_stays_even_if_the_user_rates_the_item(data, release):
    rows = rows_of(data, np.arange(40))
    shown = release(rows, goal="mislead")
    added = {pair: r for pair, r in shown.items() if pair not in rows}
    assert len(added) > 10
    again = release(rows | {pair: 6 - r for pair, r in added.items()}, goal="mislead")
    assert {pair: again[pair] for pair in added} == added


def test_an_item_that_the_guard_does_not_know_is_told_and_a_guard_learnt_anew_cannot_hide_it(data, release):
    table = data.to_arrow()
    few = pa.array(np.isin(table.column("item").to_numpy(), data.items[:30]))
    cities = pa.table({"user": data.users, "city": [data.values[code] for code in data.y]})
    small = ag.learn(table.filter(few), attributes=cities, attribute="city", scale=data.scale, unmatched="drop",
                     goal="conceal", members=1, budget=2.0, random_state=0)  # fmt: skip
    rows = rows_of(data, np.arange(10))
    unknown = {pair for pair in rows if pair[1] not in set(data.items[:30].tolist())}
    shown = release(rows, guard=small)
    assert unknown
    assert unknown <= set(shown)
    assert release(rows) == shown  # by the guard that knows all items: nothing is new


def test_what_a_guard_hid_stays_hidden_when_its_successor_does_not_know_the_item(data, release, told):
    rows, shown, hidden = told
    item = next(iter(hidden))[1]
    table = data.to_arrow()
    others = table.filter(pa.array(table.column("item").to_numpy() != item))
    cities = pa.table({"user": data.users, "city": [data.values[code] for code in data.y]})
    anew = ag.learn(others, attributes=cities, attribute="city", scale=data.scale, goal="conceal", members=1,
                    budget=2.0, random_state=1)  # fmt: skip
    assert release(rows, guard=anew) == shown


def test_a_forgotten_user_is_taken_as_new(tmp_path, release, told):
    rows, shown, hidden = told
    user = next(iter(hidden))[0]
    ag.forget_user(tmp_path / "l", user, key=KEY)
    again = release(rows, budget=1.0)
    assert {p: r for p, r in again.items() if p[0] != user} == {p: r for p, r in shown.items() if p[0] != user}
    assert sum(p[0] == user for p in again) == sum(p[0] == user for p in shown) + 1


def test_the_budget_for_ever_counts_all_releases(data, release):
    rows = rows_of(data, np.arange(10))
    shown = release(rows, budget_ever=3)
    new = {(u, i): 4 for u in {u for u, _ in rows} for i in data.items.tolist() if (u, i) not in rows}
    again = release(rows | new, budget_ever=3)
    lost = [sum(p[0] == u for p in set(rows) | set(new)) - sum(p[0] == u for p in again) for u in {u for u, _ in rows}]
    assert set(lost) == {3}
    assert len(shown) == len(rows) - 20


def test_a_first_release_with_a_ledger_is_the_one_without(tmp_path, data, guard):
    table = data.to_arrow()
    for goal in ("mislead", "conceal", "both"):
        with_ledger = ag.protect(table, guard, key=KEY, goal=goal, ledger=tmp_path / goal)
        assert with_ledger.table.equals(ag.protect(table, guard, key=KEY, goal=goal).table)


def test_added_rows_keep_the_cells_of_their_other_columns(tmp_path, data, guard):
    """The users' own rows change meanwhile, and with them the times and devices that would be drawn."""
    rng, table = np.random.default_rng(0), data.to_arrow()
    minutes, device = rng.integers(0, 500_000, table.num_rows), rng.integers(0, 3, table.num_rows)
    times = np.datetime64("2020-01-01") + minutes.astype("timedelta64[m]")
    table = table.append_column("time", pa.array(times.astype("datetime64[us]")))
    table = table.append_column("device", pa.array(np.array(["phone", "web", "tv"])[device]))
    part = table.filter(pa.array(rng.random(table.num_rows) < 0.7))
    first = ag.protect(part, guard, key=KEY, goal="mislead", ledger=tmp_path / "l")
    first.save(tmp_path / "may.parquet")
    second = ag.protect(table, guard, key=KEY, goal="mislead", ledger=tmp_path / "l")
    anew = ag.protect(table, guard, key=KEY, goal="mislead")
    own = {(row["user"], row["item"]) for row in table.to_pylist()}
    added = [row for row in first.table.filter(pa.array(first.block.release.added)).to_pylist()
             if (row["user"], row["item"]) not in own]  # fmt: skip
    assert len(added) > 50
    rows = second.table.to_pylist()
    assert all(row in rows for row in added)
    rows = anew.table.to_pylist()
    assert sum(row in rows for row in added) < len(added) / 2


def dated(table, seed=0):
    """A table with times, in whole minutes of a year."""
    minutes = np.random.default_rng(seed).integers(0, 500_000, table.num_rows).astype("timedelta64[m]")
    return table.append_column("time", pa.array((np.datetime64("2020-01-01") + minutes).astype("datetime64[us]")))


def by_pair(table):
    return {(row["user"], row["item"]): row for row in table.to_pylist()}


def test_an_added_row_stays_as_it_came_when_the_user_rates_the_item(tmp_path, data, guard):
    """Rows that alone have another time in June than in May would be those that were made up."""
    table = dated(data.to_arrow())
    given = {"key": KEY, "goal": "mislead", "ledger": tmp_path / "l"}
    first = ag.protect(table, guard, **given)
    first.save(tmp_path / "may.parquet")
    own, may = by_pair(table), by_pair(first.table)
    added = [pair for pair in may if pair not in own]
    assert len(added) > 100
    late = [{"user": u, "item": i, "rating": 3, "time": np.datetime64("2022-01-01", "us")} for u, i in added]
    second = ag.protect(pa.concat_tables([table, pa.Table.from_pylist(late, table.schema)]), guard, **given)
    assert by_pair(second.table) == may


def test_cells_of_a_new_column_stay_from_then_on(tmp_path, data, guard):
    """A column that the table of May did not have: what June makes up for rows of May, July says again."""
    table, rng = dated(data.to_arrow()), np.random.default_rng(1)
    arrives = rng.integers(0, 3, table.num_rows)
    given = {"key": KEY, "goal": "mislead", "ledger": tmp_path / "l"}
    shown = []
    for month in range(3):
        rows = table.filter(pa.array(arrives <= month))
        released = ag.protect(rows if month else rows.drop_columns("time"), guard, **given)
        released.save(tmp_path / "out.parquet")
        shown.append(by_pair(released.table))
    added = set(shown[0]) - set(by_pair(table))
    assert len(added) > 100
    assert [shown[1][pair] for pair in added] == [shown[2][pair] for pair in added]
    cells = len(list((tmp_path / "l").glob("cells-*")))
    ag.protect(table, guard, **given).save(tmp_path / "out.parquet")
    assert len(list((tmp_path / "l").glob("cells-*"))) == cells  # what is kept is not kept twice


@pytest.mark.parametrize("kind", [pa.dictionary(pa.uint32(), pa.string_view()), pa.string_view(), pa.string()], ids=str)
def test_cells_of_every_kind_of_text_are_kept(tmp_path, data, guard, kind):
    """As polars has them: categories of views, which Parquet does not write."""
    table, given = data.to_arrow(), {"key": KEY, "goal": "mislead", "ledger": tmp_path / "l"}
    device = pa.array(np.random.default_rng(0).choice(["phone", "web", "tv"], table.num_rows))
    if pa.types.is_dictionary(kind):
        codes = device.dictionary_encode()
        device = pa.DictionaryArray.from_arrays(codes.indices.cast(pa.uint32()), codes.dictionary.cast(kind.value_type))
    table = table.append_column("device", device.cast(pa.string_view()) if kind == pa.string_view() else device)
    first = ag.protect(table, guard, **given)
    first.save(tmp_path / "may.csv")
    second = ag.protect(table, guard, **given)
    assert second.table.to_pydict() == first.table.to_pydict()
    second.save(tmp_path / "june.csv")
    assert len(list((tmp_path / "l").glob("cells-*"))) == 1


def test_titles_of_added_rows_are_those_of_the_items_now(tmp_path, data, guard):
    """An item that was renamed: a row that alone has the old name would be one that was made up."""

    def titled(table, year):
        titles = [f"item {item}, {year if item % 3 else 2000}" for item in table["item"].to_pylist()]
        return table.append_column("title", pa.array(titles))

    table = data.to_arrow()
    given = {"key": KEY, "goal": "mislead", "ledger": tmp_path / "l"}
    first = ag.protect(titled(table, 2001), guard, **given)
    first.save(tmp_path / "may.parquet")
    second = ag.protect(titled(table, 2002), guard, **given)
    assert second.summary.added > 100
    assert second.table.equals(titled(second.table.drop_columns("title"), 2002))
    assert second.table.drop_columns("title").equals(first.table.drop_columns("title"))


@pytest.mark.parametrize("goal", ["conceal", "mislead"])
def test_a_hidden_like_is_not_shown_as_a_row_that_says_no(tmp_path, data, goal):
    """Some tables have a row with 0 for what a user does not like, or no longer likes."""
    rows = {pair: {**row, "rating": 1} for pair, row in by_pair(data.to_arrow()).items()}
    cities = pa.table({"user": data.users, "city": [data.values[code] for code in data.y]})
    guard = ag.learn(pa.Table.from_pylist(list(rows.values())), attributes=cities, attribute="city", scale=(0, 1, 1),
                     rating="rating", goal=goal, members=1, budget=2.0, random_state=0)  # fmt: skip
    given = {"key": KEY, "rating": "rating", "ledger": tmp_path / "l"}
    first = ag.protect(pa.Table.from_pylist(list(rows.values())), guard, **given)
    first.save(tmp_path / "may.csv")
    may = by_pair(first.table)
    hidden, added = set(rows) - set(may), set(may) - set(rows)
    assert len(hidden | added) > 100
    no = [{"user": u, "item": i, "rating": 0} for u, i in hidden | added]
    left = [row for pair, row in rows.items() if pair not in hidden]
    second = ag.protect(pa.Table.from_pylist(left + no), guard, **given)
    assert by_pair(second.table) == may


def test_a_release_counts_once_however_often_it_is_saved(tmp_path, data, guard):
    released = ag.protect(data.to_arrow(), guard, key=KEY, ledger=tmp_path / "l")
    late = ag.protect(data.to_arrow(), guard, key=KEY, ledger=tmp_path / "l")
    assert not (tmp_path / "l" / "ledger.json").exists()  # nothing counts before it is saved
    released.save(tmp_path / "out.csv")
    released.save(tmp_path / "out.parquet")
    assert len(ag.describe_ledger(tmp_path / "l").releases) == 1
    with pytest.raises(DataError, match="protect the table again"):
        late.enter()


def test_what_a_ledger_needs(tmp_path, data, guard):
    table = data.to_arrow()
    with pytest.raises(ParameterError, match="a ledger needs the same key"):
        ag.protect(table, guard, ledger=tmp_path / "l")
    with pytest.raises(ParameterError, match="budget_ever counts the changes of all releases"):
        ag.protect(table, guard, key=KEY, budget_ever=4)
    with pytest.raises(ParameterError, match="this release has no ledger"):
        ag.protect(table, guard, key=KEY).enter()


def test_the_command(tmp_path, data, guard, capsys):
    guard.save(tmp_path / "city.guard")
    ag.new_key(tmp_path / "secret.key")
    ag.write_release(data, data.X, tmp_path / "ratings.csv")
    ledger, key = str(tmp_path / "ledger"), f"@{tmp_path / 'secret.key'}"
    protect = ["protect", str(tmp_path / "ratings.csv"), "--guard", str(tmp_path / "city.guard"), "--key", key]
    for month in ("may", "june"):
        output = str(tmp_path / f"{month}.csv")
        assert run(app, [*protect, "--ledger", ledger, "--budget-ever", "8", "--output", output]) == 0
    told = capsys.readouterr().out
    assert "release 2 of the ledger: 400 of 400 users were in it before, 0 have something new" in told
    assert (tmp_path / "may.csv").read_bytes() == (tmp_path / "june.csv").read_bytes()
    assert run(app, ["ledger", "show", ledger]) == 0
    assert "400, as keyed hashes" in capsys.readouterr().out
    assert run(app, ["ledger", "check", ledger, "--key", key, "--guard", str(tmp_path / "city.guard")]) == 0
    assert "the ledger is whole, and of this key" in capsys.readouterr().out
    assert run(app, ["ledger", "forget", ledger, str(data.users[0]), "--key", key]) == 0
    assert "entries erased" in capsys.readouterr().out
    assert run(app, ["ledger", "check", ledger, "--key", "another key of bytes"]) == 2
    assert "not written under this key" in capsys.readouterr().err


def test_blocks_of_users_make_the_same_release_and_the_same_ledger(tmp_path, data, guard):
    table = data.to_arrow()
    part = table.filter(pa.array(np.random.default_rng(0).random(table.num_rows) < 0.7))
    for n, rows in enumerate((part, table)):
        whole = ag.protect(rows, guard, key=KEY, goal="mislead", ledger=tmp_path / "whole", order="sorted")
        blocks = ag.protect_batches(rows.to_batches(max_chunksize=400), guard, key=KEY, goal="mislead",
                                    ledger=tmp_path / "blocks")  # fmt: skip
        order = [("user", "ascending"), ("item", "ascending")]
        assert pa.Table.from_batches(blocks).sort_by(order).equals(whole.table.sort_by(order))
        whole.enter()
        cards = [ag.describe_ledger(tmp_path / name) for name in ("whole", "blocks")]
        assert cards[0].counts == cards[1].counts
        assert len(cards[1].releases) == n + 1


def test_a_publishers_own_table(tmp_path, data):
    """Guards are learnt anew from the grown table; what was hidden stays hidden, and the check attacks the union."""
    rng = np.random.default_rng(0)
    part = data.to_arrow().filter(pa.array(rng.random(data.X.nnz) < 0.7))
    cities = pa.table({"user": data.users, "city": [data.values[code] for code in data.y]})
    given = {"attributes": cities, "attribute": "city", "members": 1, "key": KEY, "ledger": tmp_path / "l"}
    shown, own = [], []
    for rows in (part, part, data.to_arrow()):
        released = ag.protect(rows, budget=1.0, check=rows is not part, unmatched="drop", **given)
        shown.append({(row["user"], row["item"]) for row in released.table.to_pylist()})
        own.append({(row["user"], row["item"]) for row in rows.to_pylist()})
        released.save(tmp_path / "out.csv")
    assert shown[1] == shown[0]
    assert shown[2] & own[0] == shown[0]
    assert len(own[2]) > len(shown[2]) > len(shown[0])
    hidden = [len(o) - len(s) for o, s in zip(own, shown, strict=True)]
    assert hidden[0] == pytest.approx(data.n_users, rel=0.05)
    assert hidden[2] < 1.6 * data.n_users  # new ratings pay the price that everybody's would pay
    assert released.check is not None


def test_the_check_attacks_what_was_ever_told(tmp_path, data, guard):
    """Users who have deleted their most telling ratings since are attacked on them all the same."""
    cities = pa.table({"user": data.users, "city": [data.values[code] for code in data.y]})
    table = data.to_arrow()
    given = {"key": KEY, "goal": "conceal", "budget": 0.01, "attributes": cities, "attribute": "city"}
    first = ag.protect(table, guard, ledger=tmp_path / "l", **given)
    first.save(tmp_path / "may.csv")
    few = table.filter(pa.array(np.random.default_rng(0).random(table.num_rows) < 0.25))
    told = ag.protect(few, guard, ledger=tmp_path / "l", unmatched="drop", **given).check
    alone = ag.protect(few, guard, unmatched="drop", **given).check
    assert told.strongest_after().auc.value > alone.strongest_after().auc.value + 0.1


def test_what_is_added_later_is_dated_as_what_came_later(tmp_path, data, guard):
    """A row of March that the release of April did not have could only have been made up.

    Users with a single new row have the times of others, as in any release; of all times, six in ten are early.
    """
    rng, table = np.random.default_rng(0), data.to_arrow()
    minutes = rng.integers(0, 500_000, table.num_rows)
    april = np.datetime64("2020-01-01") + np.timedelta64(300_000, "m")
    times = (np.datetime64("2020-01-01") + minutes.astype("timedelta64[m]")).astype("datetime64[us]")
    table = table.append_column("time", pa.array(times))
    before = table.filter(pa.array(times < april))
    first = ag.protect(before, guard, key=KEY, goal="mislead", ledger=tmp_path / "l")
    first.save(tmp_path / "april.parquet")
    second = ag.protect(table, guard, key=KEY, goal="mislead", ledger=tmp_path / "l")
    known = {(row["user"], row["item"]) for part in (first.table, table) for row in part.to_pylist()}
    new = [row["time"] for row in second.table.to_pylist() if (row["user"], row["item"]) not in known]
    assert len(new) > 30
    early = sum(np.datetime64(time) < april for time in new)
    assert early <= 0.2 * len(new)


def test_an_audit_with_a_ledger_asks_those_who_keep_every_release(tmp_path, data, guard, capsys):
    cities = pa.table({"user": data.users, "city": [data.values[code] for code in data.y]})
    table, rng = data.to_arrow(), np.random.default_rng(0)
    for share in (0.5, 1.0):
        part = table.filter(pa.array(rng.random(table.num_rows) < share))
        ag.protect(part, guard, key=KEY, goal="conceal", ledger=tmp_path / "l").save(tmp_path / "out.csv")
    given = {"attacks": ["LR-A"], "budgets": [2.0], "retrained": ["MLP-A"], "random_state": 0, "members": 1}
    found = ag.audit(data, ledger=tmp_path / "l", key=KEY, **given)
    names = [row["attack"] for row in found.rows() if row["setting"] == "releases" and row["figure"] == "auc"]
    assert names == [*ag.attacks.KEEPING, "UNION-A by MLP-A"]
    assert found.found.kept.n_releases == 2
    assert found.found.kept.n_users == 400
    assert len(found.record()["releases"]) == len(names)
    assert "What the releases so far tell" in [section.title for section in found.page().sections]
    alone = {row["attack"]: row["value"] for row in found.rows() if row["setting"] == "now" and row["figure"] == "auc"}
    told = [row["value"] for row in found.rows() if row["setting"] == "releases" and row["figure"] == "auc"]
    assert 0.5 < max(told) < alone["LR-A"]  # they infer something, and less than from the table itself
    with pytest.raises(ParameterError, match="give the ledger and its key"):
        ag.audit(data, ledger=tmp_path / "l", **given)
    strangers = ag.load_dataset("twin", n_users=60, n_items=60, n_values=2, seed=9)
    strangers = dataclasses.replace(strangers, users=strangers.users + 10_000)
    with pytest.raises(DataError, match="knows no user of this table"):
        ag.audit(strangers, ledger=tmp_path / "l", key=KEY, **given)
    pa_csv.write_csv(table, tmp_path / "r.csv")
    pa_csv.write_csv(cities, tmp_path / "c.csv")
    command = ["audit", str(tmp_path / "r.csv"), "--attributes", str(tmp_path / "c.csv"), "--attribute", "city"]
    command += ["--output", str(tmp_path / "a.html"), "--attacks", "LR-A", "--retrained", "", "--budgets", "2"]
    assert run(app, [*command, "--ledger", str(tmp_path / "l"), "--key", KEY.decode(), "--seed", "0"]) == 0
    assert "What the releases so far tell" in (tmp_path / "a.html").read_text()


def test_the_check_asks_those_who_keep_every_release(tmp_path, data, guard):
    cities = pa.table({"user": data.users, "city": [data.values[code] for code in data.y]})
    given = {"key": KEY, "attributes": cities, "attribute": "city", "ledger": tmp_path / "l", "goal": "conceal"}
    table = data.to_arrow()
    first = ag.protect(table.slice(0, 4000), guard, unmatched="drop", **given)
    assert not [each for each in first.check.after if each.attack in ag.attacks.KEEPING]
    first.save(tmp_path / "may.csv")
    second = ag.protect(table, guard, **given)
    asked = [each.attack for each in second.check.after]
    assert [name for name in asked if name in ag.attacks.KEEPING] == list(ag.attacks.KEEPING)
    assert asked[: -len(ag.attacks.KEEPING)] == [name for name in ("LR-A", "MLP-A", "NB-A", "RF-A") for _ in range(2)]


def test_own_ratings_must_be_those_of_the_users(data, guard):
    with pytest.raises(DataError, match="a row for each of the 20 users of X, got 19"):
        guard.plan(data.X[:20], own=data.X[:19])
    with pytest.raises(DataError, match="features"):
        guard.plan(data.X[:20], own=data.X[:20, :5])


def test_removals_of_both_look_past_what_was_added_before(data, guard):
    """The same ratings are removed, whatever decoys stand beside them; without that, they would sway the choice."""
    X = data.X[:200]
    planner = guard.planner()
    told = planner.plan(X, budget=4.0)
    choice = np.arange(200) % data.m  # the noise of one value or the other
    shown = told.edits.apply(X, choice)
    decoys = ((shown != 0).astype(np.float32) - (shown != 0).multiply(X != 0)).tocsr()
    decoys.eliminate_zeros()
    assert decoys.nnz > 100
    rows = (X + shown.multiply(decoys != 0)).tocsr().astype(np.float32)

    locked = (decoys != 0).astype(np.float32)
    finder = planner.goal.finder(planner.settings, planner.learnt, locked)

    def removed(finder, X):
        return finder.remove(finder.without_added(X), np.full(200, 2.0), Progress())[0].items[:, 0]

    alone, swayed = removed(finder, X), removed(finder, rows)
    np.testing.assert_array_equal(removed(planner.goal.remembering(finder, X), rows), alone)
    assert (swayed != alone).sum() > 10
