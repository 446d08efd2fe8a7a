"""An error that tells people to use an option names one that the command has."""

from __future__ import annotations

import re

import pytest
import typer.main

from attriguard.cli import app

COMMANDS = typer.main.get_command(app).commands


def options_of(command):
    return {name for parameter in COMMANDS[command].params for name in (*parameter.opts, *parameter.secondary_opts)}


def strangers(command, message):
    """Options in a message that the command lacks; those after "attriguard NAME" are that command's."""
    parts = re.split(r"attriguard (\w+)", message)
    named = [(command, parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]
    return [
        option
        for owner, text in named
        for option in (
            *re.findall(r"(?<![\w-])--[a-z][a-z-]*", text),
            *(
                "--" + word.replace("_", "-")
                for word in re.findall(r"(?:the option|\(option|or set|; set) ([a-z_]+)", text)
            ),
        )
        if option not in (options_of(owner) if owner in COMMANDS else ()) and option != "--help"
    ]


def test_a_stranger_is_found():
    assert strangers("protect", "use --twin, or --rating") == ["--twin"]
    assert strangers("protect", "use --key; see: attriguard fit --like") == []
    assert strangers("fit", "see: attriguard protect --twin") == ["--twin"]
    assert strangers("protect", "say so with the option twin, or set splits to 'keep'") == ["--twin", "--splits"]


# What people get wrong first: the table or the command line, and a word of the error that it ends with.
TABLES = {
    "no user column": ("a,b,c\n1,x,3\n2,y,3\n", "user"),
    "an unknown column type": ("user,app,stars\nu1,x,good\nu2,y,bad\n", "stars"),
    "a rating that is missing": ("user,app,stars\nu000,x,\nu001,y,4\n", "finite number"),
    "a matrix": ("user," + ",".join(f"i{k}" for k in range(300)) + "\nu1," + ",".join("1" * 300) + "\n", "columns"),
    "the same rating twice": ("user,app,stars\nu000,x,3\nu000,x,4\n", "more than once|have no row"),
    "other users": ("user,app,stars\nzz,x,3\nyy,y,4\n", "no row"),
    "no id": ("user,app,stars\n,x,3\nu000,y,4\n", "user"),
    "one rating only": ("user,app,stars\nu000,x,3\n", "."),
    "an empty file": ("", "empty"),
}  # fmt: skip


@pytest.mark.parametrize("command", ["fit", "audit", "evaluate"])
@pytest.mark.parametrize("mistake", TABLES)
def test_mistakes_in_a_table(files, cli, tmp_path, command, mistake):
    text, told = TABLES[mistake]
    (tmp_path / "r.csv").write_text(text)
    common = ["--attributes", files / "users.csv", "--attribute", "city", "--output", tmp_path / "out.json"]
    code, _, err = cli(command, tmp_path / "r.csv", *common)
    assert code == 2, err
    assert re.search(told, err)
    assert strangers(command, err) == []


@pytest.mark.parametrize("mistake", [name for name in TABLES if name != "other users"])
def test_mistakes_in_a_table_to_protect(cli, files, guard_file, tmp_path, mistake):
    text, _ = TABLES[mistake]
    (tmp_path / "r.csv").write_text(text)
    code, _, err = cli("protect", tmp_path / "r.csv", "--guard", guard_file, "--output", tmp_path / "out.csv")
    assert code == 2, err
    assert strangers("protect", err) == []


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("protect", ["--rating", "nothing"]),
        ("protect", ["--goal", "conceal"]),
        ("protect", ["--key", "short"]),
        ("protect", ["--key", "long enough", "--seed", "1"]),
        ("protect", ["--locked", "USERS"]),
        ("protect", ["--additions", "USERS"]),
        ("protect", ["--confidence", "-1"]),
        ("fit", ["--attribute", "nothing"]),
        ("fit", ["--scale", "1-5"]),
        ("fit", ["--scale", "1:3:1"]),
        ("fit", ["--item", "when"]),
        ("fit", ["--split", "0.5"]),
        ("fit", ["--epochs", "3"]),
        ("fit", ["--classifier", "nn", "--search", "panda", "--goal", "conceal"]),
        ("audit", ["--budgets", "-1"]),
        ("audit", ["--all-goals", "--goal", "conceal", "--split", "2"]),
        ("evaluate", ["--at", "0.3"]),
        ("evaluate", ["--goals", "all", "--retrained", "LR-A"]),
        ("evaluate", ["--seeds", "1,2"]),
        ("evaluate", ["--defenses", "BlurMe", "--strengths", "AttriGuard=x"]),
        ("evaluate", ["--twin", "3x3"]),
    ],
)
def test_mistakes_in_the_command_line(files, guard_file, cli, tmp_path, command, options):
    given = [files / "users.csv" if option == "USERS" else option for option in options]
    common = ["--attributes", files / "users.csv", "--output", tmp_path / "out.json"]
    common += [] if "--attribute" in options else ["--attribute", "city"]
    if command == "protect":
        common = ["--guard", guard_file, "--output", tmp_path / "out.csv"]
    code, _, err = cli(command, files / "ratings.csv", *common, *given)
    assert code == 2, err
    assert strangers(command, err) == []
