"""``evaluate``: the table, the JSON, the plots, and going on."""

from __future__ import annotations

import json
import time

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
    code, out, err = cli(*base, "--hidden", 24, "--output", output, "--plot", plot)
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
    code, again, _ = cli(*base, "--hidden", 24, "--json")
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
    monkeypatch.setattr("attriguard.data.datasets.load_dataset", lambda name, attribute: small_twin)
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
        (["--guard-hidden", "10"], "option of networks"),
        (["--attacks", "NN-A", "--hidden", "0"], "hidden must be"),
    ):
        code, _, err = cli(*base, "--output", tmp_path / "r.json", *options)
        assert code == 2, options
        assert message in err, err
    assert not (tmp_path / "r.json").exists()
