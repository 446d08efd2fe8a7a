"""From files to a guard to released files, as a person at a terminal would do it."""

from __future__ import annotations

import csv
import json
import stat

import pyarrow.parquet as pq
import pytest

import attriguard as ag


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_the_whole_way(files, guard_file, cli, tmp_path):
    out = tmp_path / "released.csv"
    code, printed, err = cli(
        "protect", files / "ratings.csv", "--guard", guard_file, "--output", out, "--budget", 2, "--seed", 1
    )
    assert code == 0, err
    assert "released 300 users" in printed
    assert "empty in added rows" not in err
    before, after = rows_of(files / "ratings.csv"), rows_of(out)
    assert all(row["when"] for row in after)
    assert list(before[0]) == list(after[0])
    had = {(row["user"], row["app"]): row for row in before}
    kept = [row for row in after if had.get((row["user"], row["app"])) == row]
    assert 0.8 * len(before) < len(kept) < len(before)
    assert {row["stars"] for row in after} <= set("12345")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["released.csv"]


def test_the_release_misleads_the_guards_own_classifier(files, guard_file, cli, tmp_path):
    code, _, err = cli(
        "protect", files / "ratings.csv", "--guard", guard_file, "--output", tmp_path / "r.csv", "--seed", 1
    )
    assert code == 0, err
    guard = ag.load_guard(guard_file)
    truth = ag.read_ratings(files / "ratings.csv", attributes=files / "users.csv", attribute="city", scale=(1, 5, 1))
    noisy = ag.read_ratings(tmp_path / "r.csv", scale=(1, 5, 1))
    from attriguard.data.releases.release import align_items

    def accuracy(data):
        X, _ = align_items(data, guard.items_)
        return (guard.classifier_.decision_function(X).argmax(axis=1) == truth.y).mean()

    assert accuracy(truth) > accuracy(noisy) + 0.2


def test_seeds_and_keys(files, guard_file, cli, tmp_path, monkeypatch):
    def release(name, *options):
        code, _, err = cli(
            "protect", files / "ratings.csv", "--guard", guard_file, "--output", tmp_path / name, *options
        )
        assert code == 0, err
        return (tmp_path / name).read_text()

    (tmp_path / "secret").write_text("correct horse battery\n")
    assert release("a.csv", "--seed", 3) == release("b.csv", "--seed", 3)
    assert release("a.csv") != release("b.csv")
    keyed = release("a.csv", "--key", "correct horse battery")
    assert keyed == release("b.csv", "--key", f"@{tmp_path / 'secret'}")
    assert keyed != release("c.csv", "--key", "another good key")
    monkeypatch.setenv("ATTRIGUARD_KEY", "correct horse battery")
    assert keyed == release("d.csv")


def test_policies_locked_items_and_additions(files, guard_file, cli, tmp_path):
    before = {(row["user"], row["app"]): row["stars"] for row in rows_of(files / "ratings.csv")}
    common = ["protect", files / "ratings.csv", "--guard", guard_file, "--seed", 1, "--output", tmp_path / "r.csv"]

    def changes(*options):
        code, _, err = cli(*common, *options)
        assert code == 0, err
        after = {(row["user"], row["app"]): row["stars"] for row in rows_of(tmp_path / "r.csv")}
        return {pair for pair in before.keys() | after.keys() if before.get(pair) != after.get(pair)}, after

    free, _ = changes()
    added, after = changes("--policy", "add_new")
    assert added
    assert not added & before.keys()
    assert {"5"} < {after[pair] for pair in added} <= {"1", "2", "3", "4", "5"}  # drawn from the users' own
    item = max((pair[1] for pair in free), key=lambda name: sum(pair[1] == name for pair in free))
    (tmp_path / "locked.csv").write_text(f"app\n{item}\n")
    assert item not in {pair[1] for pair in changes("--locked", tmp_path / "locked.csv")[0]}
    user = next(pair[0] for pair in free if pair[1] == item)
    (tmp_path / "locked.csv").write_text(f"user,app\n{user},{item}\n")
    locked, _ = changes("--locked", tmp_path / "locked.csv")
    assert (user, item) not in locked
    assert item in {pair[1] for pair in locked}
    items = sorted({pair[1] for pair in before})[:60]
    (tmp_path / "additions.csv").write_text("app,stars\n" + "".join(f"{name},3\n" for name in items))
    chosen, after = changes("--policy", "add_new", "--additions", tmp_path / "additions.csv")
    new = {pair for pair in chosen if pair not in before}
    assert {pair[1] for pair in new} <= set(items)
    assert {after[pair] for pair in new} == {"3"}


def test_the_plan_shows_every_edit_and_its_probability(files, guard_file, cli, tmp_path):
    plan_file = tmp_path / "plan.parquet"
    code, _, err = cli(
        "protect", files / "ratings.csv", "--guard", guard_file, "--output", tmp_path / "r.csv", "--plan", plan_file
    )
    assert code == 0, err
    table = pq.read_table(plan_file).to_pylist()
    assert set(table[0]) == {
        "user", "value", "probability", "cost", "reached", "beyond_policy", "item", "before", "after",
    }  # fmt: skip
    first = {(row["user"], row["value"]): row["probability"] for row in table if row["user"] == "u000"}
    assert sum(first.values()) == pytest.approx(1)
    by_pair = {}
    for row in table:
        by_pair.setdefault((row["user"], row["value"]), []).append(row)
    for rows in by_pair.values():
        edits = [row for row in rows if row["item"] is not None]
        assert len(edits) == rows[0]["cost"]
        assert all(row["before"] != row["after"] for row in edits)


def test_json_output(files, guard_file, cli, tmp_path):
    out = tmp_path / "r.parquet"
    code, printed, _ = cli("protect", files / "ratings.csv", "--guard", guard_file, "--output", out, "--json")
    assert code == 0
    record = json.loads(printed)
    assert record["users"] == 300
    assert record["expected_cost"] <= record["budget"]
    assert pq.read_table(out).column_names == ["user", "app", "stars", "when"]


def test_unknown_items_are_kept_counted_and_named_once(files, guard_file, cli, tmp_path):
    text = (files / "ratings.csv").read_text() + "u000,An App Nobody Knows,3,2024-01-01\nu001,An App Nobody Knows,4,\n"
    (tmp_path / "more.csv").write_text(text)
    code, printed, err = cli(
        "protect", tmp_path / "more.csv", "--guard", guard_file, "--output", tmp_path / "r.csv", "--json"
    )
    assert code == 0
    assert err.count("unknown to the guard") == 1
    assert "An App Nobody Knows" in err
    assert json.loads(printed)["unknown_items"] == 1
    assert sum(row["app"] == "An App Nobody Knows" for row in rows_of(tmp_path / "r.csv")) == 2


def test_a_user_the_guard_never_saw_and_one_rating_only(guard_file, cli, tmp_path):
    guard = ag.load_guard(guard_file)
    (tmp_path / "new.csv").write_text(f"user,item,rating\nnew one,{guard.items_[0]},2\n")
    code, _, err = cli("protect", tmp_path / "new.csv", "--guard", guard_file, "--output", tmp_path / "r.csv")
    assert code == 0, err


def test_likes_and_joint_attributes(cli, tmp_path):
    twin = ag.load_dataset("twin", n_users=240, n_items=80, n_values=2, seed=5)
    X = twin.X.tocoo()
    likes = "user,page\n" + "".join(f"{u},{i}\n" for u, i in zip(*X.coords, strict=True))
    (tmp_path / "likes.csv").write_text(likes)
    people = "user,city,sex\n" + "".join(f"{u},{twin.values[y]},{'fm'[u % 2]}\n" for u, y in enumerate(twin.y))
    (tmp_path / "people.csv").write_text(people)
    common = ["--attributes", tmp_path / "people.csv", "--attribute", "city", "--attribute", "sex"]
    code, printed, err = cli("fit", tmp_path / "likes.csv", *common, "--output", tmp_path / "g", "--json")
    assert code == 0, err
    assert json.loads(printed)["values"] == 4
    code, _, err = cli("protect", tmp_path / "likes.csv", "--guard", tmp_path / "g", "--output", tmp_path / "out.csv")
    assert code == 0, err
    assert rows_of(tmp_path / "out.csv")[0].keys() == {"user", "page"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--policy", "nothing"], "unknown policy"),
        (["--target", "nothing"], "unknown target"),
        (["--budget", "-1"], "negative"),
        (["--budget", "lots"], "valid number"),
        (["--key", "short"], "at least 16 bytes"),
        (["--key", "@/nowhere/key"], "no file"),
        (["--key", "long enough", "--seed", "1"], "give either --key or --seed"),
        (["--confidence", "high"], "confidence must be"),
        (["--item", "nothing"], "no column named 'nothing'"),
        (["--plan", "plan.txt"], "ends in .parquet"),
        (["--output", "out.xlsx"], "out.xlsx"),
        (["--nonsense"], "No such option"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_file(files, guard_file, cli, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    code, printed, err = cli("protect", files / "ratings.csv", "--guard", guard_file, "--output", "out.csv", *options)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert err.startswith("attriguard: error: ")
    assert printed == ""
    assert list(tmp_path.iterdir()) == []


def test_a_ratings_table_with_the_attribute_in_it_is_not_released(files, guard_file, cli, tmp_path):
    lines = (files / "ratings.csv").read_text().splitlines()
    (tmp_path / "r.csv").write_text("\n".join([lines[0] + ",city", *(line + ",Rome" for line in lines[1:])]))
    code, _, err = cli("protect", tmp_path / "r.csv", "--guard", guard_file, "--output", tmp_path / "out.csv")
    assert code == 2
    assert "holds the private attribute itself" in err
    assert not (tmp_path / "out.csv").exists()


def test_fit_says_what_is_missing(files, cli, tmp_path):
    code, _, err = cli("fit", files / "ratings.csv", "--output", tmp_path / "g")
    assert (code, "--attributes" in err) == (2, True)
    code, _, err = cli("fit", "--output", tmp_path / "g")
    assert (code, "--dataset" in err) == (2, True)
    code, _, err = cli("fit", files / "none.csv", "--attributes", files / "users.csv", "--output", tmp_path / "g")
    assert (code, "no file" in err) == (2, True)
    code, _, err = cli("fit", files / "ratings.csv", "--attributes", files / "users.csv", "--output", tmp_path / "g")
    assert (code, "city" in err) == (2, True)
    code, _, err = cli("protect", files / "ratings.csv", "--guard", files / "users.csv", "--output", tmp_path / "r.csv")
    assert (code, "not a guard" in err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_private_values_never_appear_in_messages(files, cli, tmp_path):
    (tmp_path / "users.csv").write_text("user,city\nu001,Sekrit\nu001,Sekrit\n")
    code, out, err = cli(
        "fit", files / "ratings.csv", "--attributes", tmp_path / "users.csv", "--output", tmp_path / "g"
    )
    assert code == 2
    assert "Sekrit" not in out + err


@pytest.mark.posix
def test_guards_that_are_signed(files, cli, tmp_path):
    key, other, guard = tmp_path / "secret.key", tmp_path / "other.key", tmp_path / "city.guard"
    key.write_text("a secret of the publisher's\n")
    other.write_text("somebody else's secret\n")
    fit = ["fit", files / "ratings.csv", "--attributes", files / "users.csv", "--attribute", "city", "--output", guard]
    protect = ["protect", files / "ratings.csv", "--output", tmp_path / "r.csv", "--seed", 1]
    assert cli(*fit, "--sign", f"@{key}")[0] == 0
    assert stat.S_IMODE(guard.stat().st_mode) == 0o600
    code, _, err = cli(*protect, "--guard", guard, "--verify", f"@{key}", "--plan", tmp_path / "plan.parquet")
    assert code == 0, err
    assert stat.S_IMODE((tmp_path / "plan.parquet").stat().st_mode) == 0o600
    (tmp_path / "r.csv").unlink()
    code, _, err = cli(*protect, "--guard", guard, "--verify", f"@{other}")
    assert (code, err.count("\n"), "not signed with this key" in err) == (2, 1, True)
    assert cli(*fit)[0] == 0
    code, _, err = cli(*protect, "--guard", guard, "--verify", f"@{key}")
    assert (code, err.count("\n"), "is not signed" in err) == (2, 1, True)
    code, _, err = cli(*protect, "--attributes", files / "users.csv", "--attribute", "city", "--verify", f"@{key}")
    assert (code, "name it with --guard" in err) == (2, True)
    code, _, err = cli(*fit[:-1], key, "--sign", f"@{key}")
    assert (code, "would be overwritten" in err) == (2, True)
    assert not (tmp_path / "r.csv").exists()


@pytest.mark.posix
def test_long_names_and_links_on_the_command_line(files, guard_file, cli, tmp_path):
    long, link = tmp_path / ("r" * 251 + ".csv"), tmp_path / "link.csv"
    protect = ["protect", files / "ratings.csv", "--guard", guard_file, "--seed", 1, "--output"]
    assert cli(*protect, long)[0] == 0
    link.symlink_to(long)
    before = long.stat().st_ino
    assert cli(*protect, link)[0] == 0
    assert link.is_symlink()
    assert long.stat().st_ino != before
    code, _, err = cli(*protect, tmp_path / ("r" * 252 + ".csv"))
    assert (code, err.count("\n"), "too long" in err) == (2, 1, True)
