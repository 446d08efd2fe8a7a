"""``attriguard protect`` on a publisher's own table: from two files to a checked release."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from attriguard.operations.checking import ReleaseChecker


@pytest.fixture
def own(files, cli, tmp_path):
    """Call protect on the two files; the output is released.csv."""

    def call(*more):
        given = (files / "ratings.csv", "--attributes", files / "users.csv", "--attribute", "city", "--seed", 1)
        return cli("protect", *given, "--output", tmp_path / "released.csv", *more)

    return call


def test_one_command_learns_protects_and_attacks(own, files, tmp_path):
    code, out, err = own("--report", tmp_path / "page.html", "--plan", tmp_path / "plan.parquet")
    assert code == 0, err
    assert out.startswith("The strongest attacker infers less from the release than from the original: AUC ")
    assert "released, retrained" in out
    assert f"wrote {tmp_path / 'released.csv'}" in out
    lines = (tmp_path / "released.csv").read_text().splitlines()
    assert lines[0] == "user,app,stars,when"
    assert set(lines[1:]) < set((files / "ratings.csv").read_text().splitlines())
    page = (tmp_path / "page.html").read_text()
    assert "released.csv, SHA-256" in page
    assert "u001" not in page
    assert (tmp_path / "plan.parquet").exists()


def test_what_tells_more_is_not_written(own, tmp_path, monkeypatch):
    real = ReleaseChecker.check

    def turned_round(self, *given, **options):
        found = real(self, *given, **options)
        before = tuple(each for each in found.after if each.retrained)
        after = tuple(replace(each, learnt_from=rows) for each in found.before for rows in ("released", "original"))
        return replace(found, before=before, after=after)

    monkeypatch.setattr(ReleaseChecker, "check", turned_round)
    code, out, err = own("--budget", 8)
    assert code == 3
    assert "infers MORE" in out
    assert "try another --budget" in err
    assert list(tmp_path.iterdir()) == []
    code, out, err = own("--budget", 8, "--even-if-worse")
    assert code == 0, err
    assert (tmp_path / "released.csv").exists()


def test_the_check_can_be_left_out(own):
    code, out, err = own("--no-check", "--goal", "mislead", "--json")
    assert code == 0, err
    record = json.loads(out)
    assert record["check"] is None
    assert record["goal"] == "mislead"


def test_an_aim_is_met_or_the_best_is_told(own, tmp_path):
    code, out, err = own("--goal", "mislead", "--aim-auc", 0.51)
    assert (code, out) == (3, "")
    assert "no release meets the aim of AUC 0.51" in err
    assert "the best, goal mislead" in err
    assert list(tmp_path.iterdir()) == []


def test_columns_are_dropped(own, tmp_path):
    code, _, err = own("--no-check", "--drop-columns", "when")
    assert code == 0, err
    assert (tmp_path / "released.csv").read_text().splitlines()[0] == "user,app,stars"
    code, _, err = own("--no-check", "--drop-columns", "nothing")
    assert code == 2
    assert "no column 'nothing' to be dropped; columns besides the ratings: 'when'" in err


def test_without_values_and_without_a_guard(files, cli, tmp_path):
    code, out, err = cli("protect", files / "ratings.csv", "--output", tmp_path / "r.csv")
    assert (code, out) == (2, "")
    assert "--attributes" in err


def test_a_guard_with_values_is_checked(files, guard_file, cli, tmp_path):
    given = (files / "ratings.csv", "--guard", guard_file, "--attributes", files / "users.csv", "--attribute", "city")
    code, out, err = cli("protect", *given, "--output", tmp_path / "r.csv", "--seed", 1, "--budget", 1, "--json")
    assert code in (0, 3), err
    assert json.loads(out)["check"]["users"] == 300
