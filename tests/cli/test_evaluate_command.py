"""``evaluate``: the table, the JSON, the plots, and going on."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest


@pytest.fixture
def base(files, tmp_path):
    return [
        "evaluate", files / "ratings.csv", "--attributes", files / "users.csv", "--attribute", "city",
        "--work", tmp_path / "work", "--budgets", "1,4",
    ]  # fmt: skip


def test_all_attacks_small(base, cli, tmp_path):
    pytest.importorskip("torch")
    output, plot = tmp_path / "out" / "result.json", tmp_path / "curves.svg"
    code, out, err = cli(*base, "--attacker-units", 24, "--output", output, "--plot", plot)
    assert code == 0, err
    for name in ("BA-A", "LR-A", "RF-A", "NN-A", "AT-A", "DD-A", "RC-A", "LRA-A", "MLP-A"):
        assert name in out
    record = json.loads(output.read_text())
    assert record["budgets"] == [1, 4]
    assert record["seed"] == 0
    assert record["versions"]["numpy"]
    assert record["command"].startswith("attriguard")
    now, (one, four) = record["attacks"]["LR-A"]["before"], record["attacks"]["LR-A"]["accuracy"]
    assert now > one > four
    assert record["attacks"]["LR-A"]["paper_before"] is None
    assert "<svg" in plot.read_text()
    start = time.perf_counter()
    code, again, _ = cli(*base, "--attacker-units", 24, "--json")
    assert json.loads(again)["attacks"] == record["attacks"]
    assert time.perf_counter() - start < 10  # nothing is learnt again but the guard


def test_attackers_who_know(base, cli, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = cli(
        *base, "--attacks", "LR-A", "--retrained", "LR-A", "--inversion", "LR-A", "--detector", "--draws", 2,
        "--plot", page, "--output", tmp_path / "result.json",
    )  # fmt: skip
    assert code == 0, err
    assert "LR-A retrained" in out
    assert "mechanism inversion with LR-A" in out
    aware = json.loads((tmp_path / "result.json").read_text())["aware"]
    assert aware["unaware"]["LR-A"]["accuracy"][-1] < aware["unaware"]["LR-A"]["before"]
    assert len(aware["detection_auc"]) == 2
    assert aware["guard_users"] + aware["attacker_users"] == 210
    assert "Attackers who know the guard" in page.read_text()
    assert not any(f"u{u:03d}" in page.read_text() for u in range(300))


def test_the_papers_values_stand_beside_on_the_papers_data(small_twin, cli, monkeypatch, tmp_path):
    monkeypatch.setattr(
        "attriguard.data.named.datasets.load_dataset", lambda name, attribute: replace(small_twin, name=name)
    )
    code, out, err = cli(
        "evaluate", "--dataset", "google-play", "--attacks", "BA-A,LR-A", "--budgets", "2", "--work", tmp_path
    )
    assert code == 0, err
    assert "paper" in out
    assert "0.43" in out


def test_bad_options_are_named(base, cli, tmp_path):
    for options, message in (
        (["--attacks", "XX-A"], "unknown attack 'XX-A'; known: BA-A, LR-A"),
        (["--retrained", "XX-A"], "unknown attack 'XX-A'; known: BA-A, LR-A"),
        (["--budgets", "3,2"], "must rise"),
        (["--budgets", "-1"], "finite numbers"),
        (["--plot", "plot.png"], ".svg or .html"),
        (["--retrained", "AT-A"], "AT-A adapts to the guard and needs it"),
        (["--guard-units", "10"], "option of networks"),
        (["--attacks", "NN-A", "--attacker-units", "0"], "hidden must be"),
    ):
        code, _, err = cli(*base, "--output", tmp_path / "r.json", *options)
        assert code == 2, options
        assert message in err, err
    assert not (tmp_path / "r.json").exists()


def test_defenses_side_by_side(base, cli, tmp_path):
    output, page = tmp_path / "result.json", tmp_path / "page.html"
    code, out, err = cli(
        *base, "--defenses", "AttriGuard,BlurMe,random-deletions", "--attacks", "LR-A,BA-A", "--draws", 2,
        "--strengths", "BlurMe=1,5,20", "--strengths", "random-deletions=1,3", "--reach", "0.5,0.3",
        "--recommender", "PureSVD", "--output", output, "--plot", page,
    )  # fmt: skip
    assert code == 0, err
    record = json.loads(output.read_text())
    guard, blur = record["defenses"]["AttriGuard"], record["defenses"]["BlurMe"]
    assert guard["strengths"] == [1, 4]  # --budgets
    assert blur["l0"] == [1, 5, 20]  # whole items, for everybody
    assert blur["told_the_true_value"]
    assert not guard["told_the_true_value"]
    assert "BlurMe is told every user's true value" in out
    assert set(guard["l0_for_accuracy"]["LR-A"]) == {"0.5", "0.3"}
    assert guard["accuracy"]["LR-A"][1] < record["before"]["LR-A"]
    precision = record["precision"]
    assert precision["attack"] == "LR-A"
    # The level is one that all of them reach, and the strength the one that reaches it.
    assert precision["accuracy"] == max(min(d["accuracy"]["LR-A"]) for d in record["defenses"].values())
    assert 1 <= precision["defenses"]["BlurMe"]["strength"] <= 20
    assert len(precision["defenses"]["AttriGuard"]["relative_loss"]) == 50
    assert "true value" in page.read_text()
    assert not any(f"u{u:03d}" in page.read_text() for u in range(300))
    code, again, _ = cli(
        *base, "--defenses", "AttriGuard,BlurMe,random-deletions", "--attacks", "LR-A,BA-A", "--draws", 2,
        "--strengths", "BlurMe=1,5,20", "--strengths", "random-deletions=1,3", "--reach", "0.5,0.3",
        "--recommender", "PureSVD", "--json",
    )  # fmt: skip
    assert json.loads(again)["defenses"] == record["defenses"]
    assert json.loads(again)["precision"] == precision


def test_bad_options_of_a_comparison_are_named(base, cli):
    for options, message in (
        (["--defenses", "Blur"], "unknown defense 'Blur'; known: AttriGuard, BlurMe"),
        (["--defenses", "BlurMe", "--attacks", "AT-A"], "AT-A adapts to AttriGuard alone"),
        (["--defenses", "BlurMe", "--strengths", "QPM=1"], "unknown defense in strengths 'QPM'; known: BlurMe"),
        (["--defenses", "BlurMe", "--strengths", "BlurMe=few"], "--strengths BlurMe= must be numbers"),
        (["--defenses", "BlurMe", "--strengths", "BlurMe=1.5"], "k must be a whole number of items"),
        (["--defenses", "LDP-SH", "--strengths", "LDP-SH=0"], "epsilon must be a finite number, above 0"),
        (["--defenses", "BlurMe", "--reach", "5"], "between 0 and 1"),
        (["--defenses", "BlurMe", "--recommender", "magic"], "unknown recommender 'magic'"),
        (["--defenses", "BlurMe,BlurMe"], "BlurMe was named twice"),
        (["--defenses", "BlurMe", "--detector"], "leave them out with --defenses"),
        (["--recommender", "PureSVD"], "name those with --defenses"),
        (["--strengths", "BlurMe=1"], "name those with --defenses"),
        (["--defenses", "BlurMe", "--at", "0.2"], "name it with --recommender"),
        (["--defenses", "BlurMe", "--output", base[1] / "result.json"], "cannot be used as a folder"),
    ):
        code, out, err = cli(*base, *(["--attacks", "BA-A"] if "--attacks" not in options else []), *options)
        assert code == 2, options
        assert message in err
        assert not out


def test_the_goal_of_the_guard_is_compared(base, cli, tmp_path):
    """A guard that conceals spends its budget whole, and a larger one than its own ladder has is no mistake."""
    arguments = (*base[:-1], "2,9", "--defenses", "AttriGuard", "--attacks", "BA-A", "--goal", "conceal", "--json")
    code, out, err = cli(*arguments)
    assert code == 0, err
    assert json.loads(out)["defenses"]["AttriGuard"]["l0"] == pytest.approx([2, 9], abs=0.2)
