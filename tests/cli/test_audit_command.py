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
    assert record["verdict"]["finding"] == "gives it away"
    assert record["verdict"]["attackers"] == 4
    assert record["verdict"]["low"] > 0.5
    now = {each["attack"]: each for each in record["now"]}
    assert set(now) == {"LR-A", "RF-A", "MLP-A", "NB-A", "BA-A"}
    assert list(now)[-1] == "BA-A"
    assert now["LR-A"]["accuracy"]["value"] > now["BA-A"]["accuracy"]["value"] + 0.1
    assert now["BA-A"]["accuracy"]["value"] == pytest.approx(record["guessing"])
    assert record["verdict"]["auc"] == max(each["auc"]["value"] for each in record["now"])
    assert sum(of["users"] for of in record["by_value"]) == record["disclosing_users"] == 300
    assert record["revealing_items"][0]["times_as_frequent"] > 1
    guarded = record["guarded"]
    assert guarded["budgets"] == [0, 1, 4]
    assert guarded["changes"][0] == 0 < guarded["changes"][1] <= 1
    assert guarded["guard_users"] + guarded["attacker_users"] + guarded["test_users"] == 300
    lr = {(each["budget"], each["learnt_from"]): each["accuracy"]["value"]
          for each in guarded["attackers"] if each["attack"] == "LR-A"}  # fmt: skip
    assert set(lr) == {(0, "original"), (1, "original"), (4, "original"), (1, "released"), (4, "released")}
    assert lr[0, "original"] >= lr[4, "original"]
    for budget, best in zip(guarded["budgets"], guarded["strongest"], strict=True):
        shares = [each[guarded["figure"]]["value"] for each in guarded["attackers"] if each["budget"] == budget]
        assert best[guarded["figure"]]["value"] == max(shares)


def test_the_page_is_whole_and_needs_nothing_from_outside(audited, outline):
    text = outline(audited[1]).text
    assert "What this does not protect against" in text
    assert "What can be inferred now" in text
    assert "strongest who knows the guard and retrains" in text


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
        "--output", tmp_path / "a.html", "--budgets", "1,8", "--attacks", "LR-A", "--goal", "mislead",
        "--confidence", "auto", "--json", "--retrained", "",
    )  # fmt: skip
    assert code == 0, err
    record = json.loads(out)
    assert record["guarded"]["changes"][2] > 2
    assert record["guarded"]["changes"][1] <= 1
    assert {each["learnt_from"] for each in record["guarded"]["attackers"]} == {"original"}


def test_demo(monkeypatch, cli, tmp_path):
    small = ag.load_dataset("twin", n_users=400, n_items=150, n_values=4)
    monkeypatch.setattr("attriguard.data.named.datasets.load_dataset", lambda name: small)
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("demo")
    assert code == 0, err
    assert "RF-A" in out
    assert out.startswith("The ratings give “city” away: of 100 users, an attacker infers it for ")
    assert "against the strongest attacker" in out
    assert "knows the guard and retrains" in out
    assert str(tmp_path / "attriguard-demo.html") in out.replace("\n", "")
    assert (tmp_path / "attriguard-demo.html").stat().st_size > 10_000
