"""How tables are read, from the command line: every option that a message names is there, and notes are told."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.main import get_command

import attriguard as ag
from attriguard.cli import app
from attriguard.cli._options import Columns, Reading, Source, as_typed, bins_of
from attriguard.errors import ParameterError

READERS = ("fit", "audit", "evaluate")
DATA = Path(ag.__file__).parent / "data"


def options(command: str) -> set[str]:
    """The options of a command, as one types them."""
    return {name for each in get_command(app).commands[command].params for name in each.opts if name.startswith("--")}


def said(folder: Path) -> list[str]:
    """Every text of the data's code, in which a part that is filled in is a {}."""
    trees = [ast.parse(path.read_text()) for path in folder.rglob("*.py")]
    texts = []
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.JoinedStr):
            texts.append("".join(p.value if isinstance(p, ast.Constant) else "{}" for p in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
    return texts


def test_every_option_that_the_reader_names_is_one_of_the_command_line():
    named = {name for text in said(DATA) for name in re.findall(r"\bthe option ([a-z_]+)", text)}
    assert {"rating", "like", "unmatched", "duplicates", "attributes_user", "bins", "min_users", "missing"} <= named
    for command in READERS:
        assert {f"--{name.replace('_', '-')}" for name in named} <= options(command), command


def test_every_option_of_read_ratings_is_one_of_the_command_line():
    from attriguard.operations.inputs import READING

    for command in READERS:
        assert {f"--{name.replace('_', '-')}" for name in READING} <= options(command), command


RATINGS = "user,item,rating\n" + "".join(f"u{k},{k % 4},{k % 5 + 1}\n" for k in range(20))
USERS = "user,city\n" + "".join(f"u{k},{'Rome' if k % 2 else 'Oslo'}\n" for k in range(20))
ATTRIBUTE_MISTAKES = {
    "which user": (RATINGS, "a,b,city\n1,2,x\n", ["--attribute", "city"]),
    "which attribute": (RATINGS, "user,city,age\nu1,x,3\n", []),
    "no such attribute": (RATINGS, USERS, ["--attribute", "town"]),
    "no such user column": (RATINGS, USERS, ["--attributes-user", "nobody"]),
    "users in one table": (RATINGS, USERS + "v,Rome\n", []),
    "users twice": (RATINGS, USERS + "u1,Rome\n", []),
    "bins of text": (RATINGS, USERS, ["--bins", "5"]),
    "too rare": (RATINGS, USERS, ["--min-users", "15"]),
    "rare alone": (RATINGS, USERS, ["--rare", "drop"]),
    "bins of one": (RATINGS, USERS, ["--bins", "1"]),
    "a bad bin": (RATINGS, USERS, ["--bins", "many"]),
    "rare in another way": (RATINGS, USERS, ["--min-users", "2", "--rare", "hide"]),
    "no even scale": ("user,item,rating\nu1,x,1\nu1,y,2\nu2,x,2.7\n", USERS, []),
}
RATING_MISTAKES = {
    "which columns": ("a,b,c,d\n1,2,3,4\n", USERS, []),
    "two ratings": ("user,item,score,stars\nu1,x,1,2\n", USERS, []),
    "no such column": (RATINGS, USERS, ["--rating", "stars"]),
    "text for a rating": ("user,item,rating\nu1,x,good\n", USERS, []),
    "no rating": ("user,item,rating\nu1,x,3\nu1,y,\n", USERS, []),
    "the same twice": ("user,item,rating\nu1,x,3\nu1,x,4\n", USERS, []),
    "off the scale": ("user,item,rating\nu1,x,3\nu1,y,11\n", USERS, []),
}


def mistake(cli, folder, command, given):
    ratings, users, more = given
    (folder / "r.csv").write_text(ratings)
    (folder / "u.csv").write_text(users)
    code, _, err = cli(command[0], folder / "r.csv", *command[1:], *more)
    assert code == 2, err
    assert len(err.splitlines()) == 1, err
    assert "the option" not in err
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", err))
    assert named <= options(command[0]), err
    return named


@pytest.mark.parametrize("name", [*ATTRIBUTE_MISTAKES, *RATING_MISTAKES])
def test_mistakes_name_only_options_that_there_are(name, cli, tmp_path):
    given = (ATTRIBUTE_MISTAKES | RATING_MISTAKES)[name]
    for command in READERS:
        line = (command, "--attributes", tmp_path / "u.csv", "--output", tmp_path / "out.html")
        named = mistake(cli, tmp_path, line, given)
        if name not in ("off the scale", "rare in another way", "bins of one"):
            assert named, "a message that names no option"


@pytest.mark.parametrize("name", RATING_MISTAKES)
def test_mistakes_when_protecting_name_only_options_that_there_are(name, cli, tmp_path, guard_file):
    line = ("protect", "--guard", guard_file, "--output", tmp_path / "out.csv")
    mistake(cli, tmp_path, line, RATING_MISTAKES[name])


def test_options_are_spelled_as_one_types_them():
    assert as_typed("say it with the option attributes_user, or not") == "say it with --attributes-user, or not"
    assert as_typed("the options are many; the option of choice") == "the options are many; the option of choice"
    assert "--item-names" in {
        as_typed(f"the option {name}") for group in (Columns, Reading, Source) for name in vars(group())
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [("5", 5), ("18,25,35", [18, 25, 35]), ("40,", [40]), ("1.5, 2", [1.5, 2]), ("none", "none"), ("None", "none")],
)
def test_bins_as_they_are_typed(text, expected):
    assert bins_of(text) == expected


@pytest.mark.parametrize("text", ["", "2.5", "a,b", "none,5", "18-25"])
def test_bins_that_cannot_be_read(text):
    with pytest.raises(ParameterError, match="--bins must be"):
        bins_of(text)


@pytest.fixture
def people(files, tmp_path):
    """The files of the fixture, with ages, some of them missing, rare towns, and titles for most apps."""
    rows = (files / "ratings.csv").read_text().splitlines()
    names = sorted({row.split(",")[1] for row in rows[1:]})
    number = {name: k for k, name in enumerate(names)}
    numbered = ["user,app,stars", *(f"{u},{number[a]},{s}" for u, a, s, _ in (row.split(",") for row in rows[1:]))]
    (tmp_path / "ratings.csv").write_text("\n".join(numbered) + "\n")
    users = [f"u{u:03d},{18 + u % 50 if u % 10 else 'N/A'},{'Rome' if u % 3 else f'village {u}'}" for u in range(300)]
    (tmp_path / "users.csv").write_text("\n".join(["user,age,town", *users]) + "\n")
    titles = [f"{k},The {name}" for name, k in number.items() if k]
    (tmp_path / "titles.csv").write_text("\n".join(["app,title", *titles]) + "\n")
    return tmp_path


def common(people, attribute):
    return [people / "ratings.csv", "--attributes", people / "users.csv", "--attribute", attribute]


def test_what_was_done_in_reading_is_told_on_standard_error(people, cli):
    code, out, err = cli(
        "fit", *common(people, "age"), "--output", people / "g.guard", "--goal", "conceal", "--bins", "18,30,50",
        "--item-names", people / "titles.csv",
    )  # fmt: skip
    assert code == 0, err
    assert "(3 values) from 270 users" in out
    notes = err.splitlines()
    assert all(line.startswith("attriguard: note: ") for line in notes)
    assert notes[0].endswith(
        "30 of 300 users do not disclose 'age' ('N/A'); if such a mark is a value here, see --missing"
    )
    assert notes[1].endswith("'age' is cut into 3 bins: 18 to 29, 30 to 49, 50 or more")
    assert notes[2].endswith("1 of 120 items have no name and keep their id")
    assert not re.search(r"\bu\d{3}\b", err)
    assert ag.load_guard(people / "g.guard").values_ == ("18 to 29", "30 to 49", "50 or more")


def test_rare_values_from_the_command_line(people, cli):
    for rare, values in ((["--rare", "merge"], ("other", "Rome")), ([], ("other", "Rome"))):
        code, _, err = cli("fit", *common(people, "town"), "--output", people / "g.guard", "--goal", "conceal",
                           "--min-users", "20", *rare)  # fmt: skip
        assert code == 0, err
        assert "100 of 101 values of 'town' have fewer than 20 users: merged into 'other' (100 users)" in err
        assert set(ag.load_guard(people / "g.guard").values_) == set(values)
    code, _, err = cli(
        "fit", *common(people, "town"), "--output", people / "g.guard", "--min-users", "20", "--rare", "drop"
    )
    assert (code, "same value" in err) == (2, True)


def test_titles_are_on_the_page_and_are_not_overwritten(people, cli):
    line = ["audit", *common(people, "age"), "--item-names", people / "titles.csv", "--retrained", "", "--budgets", "1",
            "--attacks", "LR-A", "--seed", "0", "--json", "--output"]  # fmt: skip
    code, out, err = cli(*line, people / "page.html")
    assert code == 0, err
    assert '"item": "The ' in out
    assert "The " in (people / "page.html").read_text()
    code, _, err = cli(*line[:-1], "--output", people / "titles.csv")
    assert code == 2
    assert "overwritten" in err


def test_titles_in_a_plan(people):
    from attriguard.data.tables.item_names import read_item_names
    from attriguard.report.plan_table import write_plan

    data = ag.read_ratings(people / "ratings.csv", attributes=people / "users.csv", attribute="age", bins=2)
    guard = ag.learn(data, goal="conceal", budget=1.0)
    plan = guard.plan(data.X, users=data.users)
    names = read_item_names(people / "titles.csv", "app")
    for given in (names, {int(item): title for item, title in names.items()},
                  [names.get(str(item), str(item)) for item in data.items]):  # fmt: skip
        write_plan(plan, guard, people / "plan.parquet", given)
        table = pq.read_table(people / "plan.parquet")
        assert table.column_names[6:8] == ["item", "title"]
        pairs = set(zip(*(table.column(name).to_pylist() for name in ("item", "title")), strict=True))
        assert pairs >= {(None, None)}
        assert len(pairs) > 20
        assert pairs == {(item, None if item is None else names.get(str(item), str(item))) for item, _ in pairs}
    write_plan(plan, guard, people / "plan.parquet")
    assert "title" not in pq.read_table(people / "plan.parquet").column_names
    with pytest.raises(ag.errors.DataError, match="one name for each of the 120 items, got 1"):
        write_plan(plan, guard, people / "plan.parquet", ["x"])


@pytest.mark.parametrize(
    "given",
    [["--bins", "5"], ["--min-users", "20"], ["--missing", ""], ["--item-names", "t.csv"], ["--attributes-user", "x"]],
)
def test_named_data_sets_are_known_as_they_are(given, cli, tmp_path, monkeypatch):
    (tmp_path / "t.csv").touch()
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("fit", "--dataset", "twin", "--output", tmp_path / "g.guard", *given)
    assert (code, out) == (2, "")
    assert f"{given[0]}: for tables of your own; a named data set is known as it is" in err
