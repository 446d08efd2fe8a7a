"""``audit`` and ``demo``: the numbers, the page, and what it must not show."""

from __future__ import annotations

import json

import pytest

import attriguard as ag


@pytest.fixture(scope="module")
def audited(files, shell, tmp_path_factory):
    page = tmp_path_factory.mktemp("audit") / "city.html"
    done = shell(
        "audit", files / "ratings.csv", "--attributes", files / "users.csv", "--attribute", "city",
        "--output", page, "--budgets", "1,4", "--seed", 0, "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), page.read_text()


def test_the_numbers(audited):
    record, _ = audited
    assert record["budgets"] == [0, 1, 4]
    for attack in ("LR-A", "RF-A"):
        now, one, four = record["accuracy"][attack]
        assert now > record["accuracy"]["BA-A"][0] + 0.1
        assert now > one > four
    assert len(set(record["accuracy"]["BA-A"])) == 1
    assert record["expected_cost"][0] == 0
    assert record["expected_cost"][1] <= 1
    assert record["training_users"] + record["test_users"] == 300
    assert record["revealing_items"][0]["times_as_frequent"] > 1
    aware = record["aware"]
    assert aware["guard_users"] + aware["attacker_users"] == record["training_users"]
    assert aware["budget"] == 4
    assert 0 < aware["unaware"] < aware["no_guard"]
    assert aware["retrained"] > 0


def test_the_page_is_whole_and_needs_nothing_from_outside(audited, outline):
    text = outline(audited[1]).text
    assert "What this does not protect against" in text
    assert "If the attacker knows that you use this" in text


def test_the_page_names_no_user(audited):
    _, page = audited
    assert not any(f"u{u:03d}" in page for u in range(300))


def test_rare_values_and_bad_options_are_refused(files, cli, tmp_path):
    users = (files / "users.csv").read_text().splitlines()
    users[1] = users[1].split(",")[0] + ",Only Here,30"
    (tmp_path / "users.csv").write_text("\n".join(users))
    common = ["audit", files / "ratings.csv", "--output", tmp_path / "a.html", "--attribute", "city"]
    code, _, err = cli(*common, "--attributes", tmp_path / "users.csv")
    assert (code, "fewer than 2 users" in err) == (2, True)
    for option, message in (
        (["--attacks", "XX-A"], "known: BA-A, LR-A"),
        (["--retrained", "XX-A"], "known: BA-A, LR-A"),
        (["--attacks", "AT-A"], "attriguard evaluate shows it"),
        (["--budgets", "3,2"], "must rise"),
        (["--budgets", "-1"], "finite numbers"),
        (["--budgets", "x"], "numbers with commas"),
        (["--dataset", "twin"], "not both"),
    ):
        code, _, err = cli(*common, "--attributes", files / "users.csv", *option)
        assert code == 2, option
        assert message in err
    assert not (tmp_path / "a.html").exists()


def test_automatic_confidence_plans_every_budget_anew(files, cli, tmp_path):
    code, out, err = cli(
        "audit", files / "ratings.csv", "--attributes", files / "users.csv", "--attribute", "city",
        "--output", tmp_path / "a.html", "--budgets", "1,8", "--attacks", "LR-A", "--confidence", "auto", "--json",
        "--retrained", "",
    )  # fmt: skip
    assert code == 0, err
    record = json.loads(out)
    assert record["expected_cost"][2] > 2
    assert record["aware"] is None
    assert record["expected_cost"][1] <= 1


def test_demo(monkeypatch, cli, tmp_path):
    small = ag.load_dataset("twin", n_users=400, n_items=150, n_values=4)
    monkeypatch.setattr("attriguard.data.named.datasets.load_dataset", lambda name: small)
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("demo")
    assert code == 0, err
    assert "RF-A" in out
    assert "An attacker who does not know you use this infers" in out
    assert "An attacker who knows and retrains infers" in out
    assert str(tmp_path / "attriguard-demo.html") in out.replace("\n", "")
    assert (tmp_path / "attriguard-demo.html").stat().st_size > 10_000
