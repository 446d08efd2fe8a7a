"""The verbs: data in any form in, frozen results out; a release does not depend on how its rows were divided."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attriguard as ag
from attriguard.errors import DataError, GuardFileError, ParameterError
from attriguard.guard.core import read_guard
from attriguard.operations.compare import usual_levels

KEY = b"a secret of sixteen bytes"


@pytest.fixture(scope="module")
def data():
    return ag.load_dataset("twin", n_users=400, n_items=80, n_values=3)


@pytest.fixture(scope="module")
def table(data):
    return data.to_arrow()


@pytest.fixture(scope="module")
def people(data):
    return pa.table({"user": data.users, "city": [data.values[code] for code in data.y]})


@pytest.fixture(scope="module")
def guard(data):
    return ag.learn(data, budget=3.0)


@pytest.fixture(scope="module")
def files(table, people, guard, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    pa.csv.write_csv(table, folder / "ratings.csv")
    pq.write_table(table, folder / "ratings.parquet")
    pa.csv.write_csv(people, folder / "users.csv")
    guard.save(folder / "city.guard")
    return folder


ALL = ("audit", "evaluate", "goals", "compare", "protect")


@pytest.mark.parametrize("name", ALL)
def test_a_result_is_tidy_frozen_and_short(results, name):
    result = results[name]
    arrow = result.to_arrow()
    assert {"figure", "value"} <= set(arrow.column_names)
    assert arrow.num_rows == len(result.rows()) > 3
    assert isinstance(result.to_frame(), pd.DataFrame)
    assert len(repr(result).splitlines()) <= 10
    assert "<table" in result._repr_html_()
    with pytest.raises(FrozenInstanceError):
        result.origin = "mine"
    json.dumps(result.record(), default=lambda value: value.tolist() if hasattr(value, "tolist") else str(value))


@pytest.mark.parametrize("name", ALL)
def test_a_result_is_saved_by_its_suffix(results, name, tmp_path):
    result = results[name].with_origin(ag.Origin("attriguard something"))
    result.save(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["command"] == "attriguard something"
    assert (result.save(tmp_path / "r.html")).read_text().startswith("<!doctype html>")
    result.save(tmp_path / "r.parquet")
    result.save(tmp_path / "r.csv")
    rows = pq.read_table(tmp_path / "r.parquet")
    assert rows.num_rows == pa.csv.read_csv(tmp_path / "r.csv").num_rows
    assert rows.num_rows == (result.table if name == "protect" else result.to_arrow()).num_rows
    with pytest.raises((ParameterError, DataError), match=r"ends|written as"):
        result.save(tmp_path / "r.docx")
    drawn = {"evaluate", "compare"}
    if name in drawn:
        assert "<svg" in result.save(tmp_path / "r.svg").read_text()
    elif name != "protect":
        with pytest.raises(ParameterError, match="written as"):
            result.save(tmp_path / "r.svg")


def test_rows_have_intervals_and_say_who_was_retrained(results):
    rows = results["audit"].to_frame()
    columns = ["figure", "attack", "learnt_from", "retrained", "setting", "goal", "budget", "changes", "users"]
    assert list(rows.columns) == [*columns, "value", "interval"]
    assert set(rows.figure) == {"accuracy", "balanced", "auc"}
    assert set(rows.setting) == {"now", "guarded"}
    assert set(rows.retrained) == {False, True}
    assert (rows[rows.attack == "LR-A"].interval > 0).all()
    now = rows[(rows.attack == "LR-A") & (rows.setting == "now") & (rows.figure == "auc")]
    assert now.value.iloc[0] == pytest.approx(results["audit"].record()["now"][0]["auc"]["value"])
    goals = results["goals"].to_frame()
    assert set(goals.seed.dropna()) == {0, 1}
    assert (goals[goals.figure == "best_accuracy"].interval >= 0).all()
    assert not rows.duplicated(["figure", "setting", "attack", "retrained", "goal", "budget"]).any()
    assert not results["evaluate"].to_frame().duplicated(["figure", "attack", "retrained", "own_users", "budget"]).any()
    assert "budget" not in results["compare"].to_frame()
    assert set(results["compare"].to_frame().defense) == {"AttriGuard", "random-deletions"}


def test_without_pandas_a_frame_is_one_of_polars(results, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    assert isinstance(results["audit"].to_frame(), pl.DataFrame)
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(ag.errors.MissingExtraError, match="to_arrow"):
        results["audit"].to_frame()


def forms(table, people, files):
    return {
        "csv": (files / "ratings.csv", files / "users.csv"),
        "parquet": (str(files / "ratings.parquet"), files / "users.csv"),
        "arrow": (table, people),
        "pandas": (table.to_pandas(), people.to_pandas()),
        "polars": (pl.from_arrow(table), pl.from_arrow(people)),
    }


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "pandas", "polars"])
def test_data_may_come_in_any_form(form, data, table, people, files, guard):
    ratings, attributes = forms(table, people, files)[form]
    learnt = ag.learn(ratings, attributes=attributes, attribute="city", budget=3.0)
    assert sorted(learnt.values_) == sorted(guard.values_)
    assert learnt.metadata_ == {"attribute": "city", "rated": True}
    released = ag.protect(ratings, guard, key=KEY)
    expected = ag.protect(table, files / "city.guard", key=KEY)
    assert released.summary == expected.summary
    assert released.table.num_rows == expected.table.num_rows
    assert released.plan.release(key=KEY).nnz == expected.plan.release(key=KEY).nnz


def test_options_go_where_they_belong(data, table, people):
    with pytest.raises(ParameterError, match="unknown option 'colour'"):
        ag.learn(data, colour="red")
    with pytest.raises(ParameterError, match="has been read already"):
        ag.learn(data, attribute="city")
    with pytest.raises(DataError, match="the attribute is missing"):
        ag.learn(table)
    with pytest.raises(ParameterError, match="unknown option 'classifier'"):
        ag.protect(table, ag.learn(data), classifier="lr")
    with pytest.raises(ParameterError, match="either a key or a random_state"):
        ag.protect(table, ag.learn(data), key=KEY, random_state=0)


def test_protect_changes_neither_the_guard_nor_its_file(files, table):
    before = (files / "city.guard").read_bytes()
    guard = ag.load_guard(files / "city.guard")
    options = guard.get_params()
    ag.protect(table, guard, key=KEY, budget=1.0, policy="add_new", locked=[int(table["item"][0].as_py())])
    assert guard.get_params() == options
    assert (files / "city.guard").read_bytes() == before


def test_the_guard_file_is_read_once(files, table, monkeypatch):
    reads = []

    def counted(kind, path):
        reads.append(path)
        return read_guard(kind, path)

    monkeypatch.setattr("attriguard.operations.ready.read_guard", counted)
    ag.protect(table, files / "city.guard", key=KEY)
    assert len(reads) == 1


def test_wishes_in_any_form(table, guard, data, tmp_path):
    item, user = data.items[0].item(), data.users[0].item()
    listed = ag.protect(table, guard, key=KEY, locked=[item], additions=data.items[:30].tolist())
    pd.DataFrame({"item": [item]}).to_csv(tmp_path / "locked.csv", index=False)
    frame = pa.table({"item": data.items[:30]})
    tabled = ag.protect(table, guard, key=KEY, locked=tmp_path / "locked.csv", additions=frame)
    assert tabled.table.equals(listed.table)
    pairs = pa.table({"user": [str(user), "nobody"], "item": [str(item), "1"]})
    assert any("1 of 2 locked pairs" in line for line in ag.protect(table, guard, key=KEY, locked=pairs).warnings)
    (tmp_path / "secret.key").write_bytes(KEY + b"\n")
    assert ag.protect(table, guard, key=tmp_path / "secret.key").table.equals(ag.protect(table, guard, key=KEY).table)


def test_warnings_are_returned_not_printed(table, guard, capfd):
    comments = [f"comment {k} of nobody else" for k in range(table.num_rows)]
    strange = table.append_column("device", pa.array(comments))
    more = pa.concat_tables([strange, strange.slice(0, 1).set_column(1, "item", pa.array([999_999]))])
    warnings = ag.protect(more, guard, key=KEY).warnings
    assert any("999999" in line and "unknown to the guard" in line for line in warnings)
    assert any(line.startswith("device is empty") for line in warnings)
    assert capfd.readouterr() == ("", "")


def test_a_guard_without_items_is_refused(data, table):
    with pytest.raises(GuardFileError, match="does not name its items"):
        ag.protect(table, ag.AttriGuard().fit(data.X, data.y), key=KEY)


@pytest.fixture(scope="module", params=["mislead", "conceal", "both"])
def keyed(request, data, table):
    guard = ag.learn(data, goal=request.param, members=1, random_state=0, budget=2.5)
    return guard, ag.protect(table, guard, key=KEY).table


@settings(max_examples=8)
@given(cuts=st.lists(st.integers(0, 10_000), max_size=12))
def test_any_division_into_batches_gives_the_same_release(keyed, table, cuts):
    guard, whole = keyed
    ends = sorted({0, *(cut % table.num_rows for cut in cuts), table.num_rows})
    batches = [batch for start, stop in pairwise(ends) for batch in table.slice(start, stop - start).to_batches()]
    released = pa.Table.from_batches(ag.protect_batches(iter(batches), guard, key=KEY))
    assert released.cast(whole.schema).equals(whole)


def test_no_batches_give_none(guard):
    assert list(ag.protect_batches(iter([]), guard, key=KEY)) == []


def test_a_user_who_comes_back_is_refused(table, guard):
    first = table.slice(0, 40)
    with pytest.raises(DataError, match="comes back"):
        list(ag.protect_batches([*table.to_batches(), *first.to_batches()], guard, key=KEY))


def test_unkeyed_releases_differ(table, guard):
    one, two = (ag.protect(table, guard).table for _ in range(2))
    assert not one.equals(two)
    assert ag.protect(table, guard, random_state=1).table.equals(ag.protect(table, guard, random_state=1).table)


class Middle(ag.attacks.Attack):
    """An attack of one's own."""

    name, plain_name, summary = "MID-A", "middle", "always the middle value"

    def _fit(self, X, codes):
        self._m = int(codes.max()) + 1

    def _predict_proba(self, X):
        return np.tile(np.eye(self._m)[self._m // 2], (X.shape[0], 1))


def test_a_plug_in_needs_no_change_to_the_source(data, tmp_path):
    found = ag.evaluate(data, attacks=[f"{__name__}:Middle"], budgets=[1], work=tmp_path)
    assert set(found.to_frame().attack) == {"MID-A"}


def test_progress_is_shown_from_start_to_end(data, tmp_path):
    shares = []
    ag.learn(data, goal="both", members=2, random_state=0, progress=lambda what, share: shares.append(share))
    assert len(shares) > 10
    assert shares == sorted(shares)
    assert shares[-1] > 0.9
    shares.clear()
    ag.audit(data, attacks=["LR-A"], budgets=[1], random_state=0, progress=lambda what, share: shares.append(share))
    assert shares == sorted(shares)
    assert shares[-1] > 0.9


def test_a_guard_for_other_items_is_refused(table, guard):
    foreign = table.set_column(1, "item", pa.array(np.asarray(table["item"]) + 1_000_000))
    with pytest.raises(DataError, match=f"knows 0 of the table's {table.num_rows:,} ratings"):
        ag.protect(foreign, guard, key=KEY)
    few = pa.concat_tables([foreign, table.slice(0, table.num_rows // 20)])
    with pytest.raises(DataError, match="learnt from other items"):
        ag.protect(few.sort_by("user"), guard, key=KEY)


@pytest.mark.parametrize(("goal", "harmful"), [("mislead", True), ("both", True), ("conceal", False)])
def test_users_that_the_guard_learnt_from_are_told_by_their_number(data, goal, harmful):
    train, test = data.split(random_state=0)
    guard = ag.learn(train, goal=goal, members=1, split=0.5 if goal == "both" else None, random_state=0)
    seen = [line for line in ag.protect(train, guard, key=KEY).warnings if "learnt from" in line]
    assert bool(seen) == harmful
    if harmful:
        assert seen[0].startswith(f"{train.n_users:,} of {train.n_users:,} users")
    assert not any("learnt from" in line for line in ag.protect(test, guard, key=KEY).warnings)


def test_a_guard_remembers_whom_it_learnt_from_without_their_ids(data, tmp_path):
    train, test = data.split(random_state=0)
    names = np.array([f"person-{user}" for user in train.users])
    guard = ag.AttriGuard().fit(train.X, np.where(np.arange(train.n_users) < 5, -1, train.y), users=names)
    guard.save(tmp_path / "a.guard")
    loaded = ag.load_guard(tmp_path / "a.guard")
    assert not loaded.has_learnt_from(names[:5]).any()  # they did not disclose
    assert loaded.has_learnt_from(names[5:]).all()
    assert not loaded.has_learnt_from([f"person-{user}" for user in test.users]).any()
    content = (tmp_path / "a.guard").read_bytes()
    assert not any(name.encode() in content for name in names)
    again = ag.AttriGuard().fit(train.X, train.y, users=names)
    assert again.seen_.salt != guard.seen_.salt
    assert not set(again.seen_.marks) & set(guard.seen_.marks)
    one, two = (ag.AttriGuard(random_state=7).fit(train.X, train.y, users=names).seen_ for _ in range(2))
    assert one.salt == two.salt
    assert one.salt != ag.AttriGuard(random_state=7).fit(train.X[:-1], train.y[:-1], users=names[:-1]).seen_.salt
    assert not ag.AttriGuard().fit(train.X, train.y).has_learnt_from(names).any()
    with pytest.raises(DataError, match="one id a row"):
        ag.AttriGuard().fit(train.X, train.y, users=names[:3])


def test_levels_to_be_reached_lie_between_guessing_and_what_is_inferred_now(results):
    found = results["compare"].found
    now = max(curve.before for tradeoff in found.tradeoffs for curve in tradeoff.curves)
    assert len(found.levels) == 5
    assert found.guessing < found.levels[-1] < found.levels[0] < now
    assert found.levels[0] == pytest.approx(found.guessing + 0.8 * (now - found.guessing), abs=5e-4)
    blind = [replace(tradeoff, curves=[replace(curve, before=0.1) for curve in tradeoff.curves])
             for tradeoff in found.tradeoffs]  # fmt: skip
    assert usual_levels(blind, 0.63) == (0.63,)  # nobody infers more than a guesser


def test_an_attack_that_knows_the_guard_is_measured_on_users_of_its_own(small_twin):
    with pytest.raises(ParameterError, match=r"retrained\(LR-A\) knows the guard .* name LR-A among those who know"):
        ag.evaluate(small_twin, attacks=["retrained(LR-A)"], budgets=[1.0])
    found = ag.evaluate(small_twin, attacks=["self-trained(LR-A)"], budgets=[1.0])
    assert {row["attack"] for row in found.rows()} == {"LR-A self-trained"}
