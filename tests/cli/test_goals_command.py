"""The goals at the command line: fit, protect, audit and evaluate with --goal."""

from __future__ import annotations

import csv
import json

import pyarrow.parquet as pq
import pytest

from attriguard.goals import GOALS


def table(files):
    return [files / "ratings.csv", "--attributes", files / "users.csv", "--attribute", "city"]


@pytest.fixture(scope="module")
def goal_guards(files, shell):
    paths = {}
    for goal, options in (("conceal", ()), ("both", ("--split", "0.5"))):
        paths[goal] = files / f"{goal}.guard"
        done = shell("fit", *table(files), "--goal", goal, *options, "--seed", 0, "--output", paths[goal])
        assert done.returncode == 0, done.stderr
    return paths


def rows_of(path):
    with open(path, newline="") as file:
        return {(row["user"], row["app"]): row["stars"] for row in csv.DictReader(file)}


def test_a_guard_that_conceals_only_removes(files, goal_guards, cli, tmp_path):
    out, plan = tmp_path / "released.csv", tmp_path / "plan.parquet"
    code, printed, err = cli(
        "protect", files / "ratings.csv", "--guard", goal_guards["conceal"], "--output", out, "--plan", plan,
        "--budget", 2.5, "--seed", 1, "--json",
    )  # fmt: skip
    assert code == 0, err
    result = json.loads(printed)
    assert (result["goal"], result["added"], result["changed"], result["values_out_of_reach"]) == ("conceal", 0, 0, 0)
    before, after = rows_of(files / "ratings.csv"), rows_of(out)
    assert after.items() <= before.items()
    assert len(before) - len(after) == result["removed"] == pytest.approx(2.5 * 300, rel=0.05)
    written = pq.read_table(plan).to_pydict()
    assert set(written["value"]) == {"no change", "1 change", "2 changes", "3 changes"}
    two = [p for p, value in zip(written["probability"], written["value"], strict=True) if value == "2 changes"]
    assert set(two) <= {0.5, 1.0, 0.0}


def test_a_guard_learnt_for_both_goals_can_do_either(files, goal_guards, cli, tmp_path):
    removed = {}
    for goal in ("mislead", "conceal", "both"):
        code, printed, err = cli(
            "protect", files / "ratings.csv", "--guard", goal_guards["both"], "--output", tmp_path / f"{goal}.csv",
            "--goal", goal, "--seed", 0, "--json",
        )  # fmt: skip
        assert code == 0, err
        removed[goal] = json.loads(printed)["removed"]
    assert removed["mislead"] < removed["both"] < removed["conceal"]
    code, _, err = cli(
        "protect", files / "ratings.csv", "--guard", goal_guards["conceal"], "--output", tmp_path / "x.csv",
        "--goal", "mislead",
    )  # fmt: skip
    assert (code, "fit it again with goal='mislead'" in err) == (2, True)


@pytest.mark.parametrize("goal", ["conceal", "both"])
def test_the_audit_shows_the_goal(files, cli, tmp_path, goal):
    page = tmp_path / "page.html"
    code, printed, err = cli(
        "audit", *table(files), "--goal", goal, "--output", page, "--budgets", "1,2.5", "--attacks", "BA-A,LR-A",
        "--seed", 0, "--json",
    )  # fmt: skip
    assert code == 0, err
    record = json.loads(printed)
    assert record["goal"] == goal
    lr = {each["budget"]: each["accuracy"]["value"] for each in record["guarded"]["attackers"]
          if (each["attack"], each["learnt_from"]) == ("LR-A", "original")}  # fmt: skip
    assert lr[0] > lr[2.5]
    first, *_, last = record["guarded"]["strongest"]
    assert last["auc"]["value"] < first["auc"]["value"]
    text = page.read_text()
    assert GOALS[goal].summary in text
    assert "What it does to users" in text
    assert GOALS[goal].how in text


def test_evaluate_takes_a_goal(files, cli, tmp_path):
    code, printed, err = cli(
        "evaluate", *table(files), "--goal", "conceal", "--attacks", "LR-A", "--budgets", "1,3", "--retrained", "LR-A",
        "--draws", 1, "--work", tmp_path, "--json",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(printed)["guard"]["goal"] == "conceal"
    code, _, err = cli("evaluate", *table(files), "--goal", "hide")
    assert (code, "known: mislead, conceal, both" in err) == (2, True)


def test_the_audit_shows_all_goals_side_by_side(files, cli, tmp_path):
    page = tmp_path / "audit.html"
    arguments = [
        "audit", files / "ratings.csv", "--attributes", files / "users.csv", "--attribute", "city", "--attacks", "LR-A",
        "--budgets", "1,4", "--seed", 0, "--all-goals", "--output", page,
    ]  # fmt: skip
    code, out, err = cli(*arguments, "--retrained", "LR-A", "--json")
    assert code == 0, err
    goals = json.loads(out)["goals"]
    assert list(goals) == ["mislead", "conceal", "both"]
    for each in goals.values():
        assert each["budgets"] == [1, 4]
        assert len(each["unaware"]) == len(each["retrained"]) == len(each["detection_auc"]) == 2
        assert each["changes"][1] <= 4 + 1e-9
        assert 0 <= each["precision"]["after"] <= 1
    assert goals["conceal"]["changes"] == pytest.approx([1, 4])
    assert "Three goals a guard can have" in page.read_text()
    code, _, err = cli(*arguments, "--retrained", "")
    assert code == 2
    assert "(retrained)" in err


def test_mistakes_are_told_before_anything_is_learnt(files, cli, tmp_path):
    for options, message in (
        (["--split", 0.5], "--split: of no use with --goal mislead"),
        (["--search", "jsma", "--policy", "add_new"], "works under policy='modify_add' alone"),
    ):
        code, _, err = cli("fit", *table(files), *options, "--output", tmp_path / "x.guard")
        assert code == 2
        assert message in err
        assert not list(tmp_path.iterdir())
