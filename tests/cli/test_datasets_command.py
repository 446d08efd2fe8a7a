"""``attriguard datasets``: list, info, fetch."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from attriguard.cli import main
from attriguard.cli.datasets import app
from attriguard.data.named.registry import DATASETS, DataFile
from attriguard.errors import DataError, DownloadError, ParameterError

FILES = {
    "train_user.txt": "0:1.0 2:0.4\n1:0.2\n0:0.6 1:0.8\n",
    "train_label.txt": "0\n1\n1\n",
    "test_user.txt": "2:0.8\n",
    "test_label.txt": "1\n",
}


def run(*arguments: str, code: int = 0, answer: str | None = None) -> Any:
    result = CliRunner().invoke(app, arguments, input=answer, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(autouse=True)
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, tiny files as the published google-play, no server; gives the folder to serve."""
    monkeypatch.delenv("ATTRIGUARD_DATA", raising=False)
    monkeypatch.setenv("ATTRIGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("COLUMNS", "200")
    folder = tmp_path / "published"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    files = tuple(DataFile(name, hashlib.sha256(text.encode()).hexdigest()) for name, text in FILES.items())
    dataset = replace(DATASETS["google-play"], files=files, base_url="http://127.0.0.1:1/")
    monkeypatch.setitem(DATASETS, "google-play", dataset)
    return folder


@pytest.fixture
def server(published: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(published)))
    url = f"http://127.0.0.1:{http.server_port}/"
    monkeypatch.setitem(DATASETS, "google-play", replace(DATASETS["google-play"], base_url=url))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.mark.parametrize("arguments", [(), ("list",)])
def test_list(arguments: tuple[str, ...]) -> None:
    lines = run(*arguments).stdout.splitlines()
    assert len(lines) == 1 + len(DATASETS)
    for line, dataset in zip(lines[1:], DATASETS.values(), strict=True):
        assert line.split()[:3] == [dataset.name, f"{dataset.users:,}", f"{dataset.items:,}"]
    assert "embedded" in lines[1]
    assert "not here: attriguard datasets fetch google-play" in lines[2]


@pytest.mark.parametrize("arguments", [("--json",), ("list", "--json"), ("--json", "list")])
def test_list_as_json(arguments: tuple[str, ...]) -> None:
    rows = json.loads(run(*arguments).stdout)
    assert [row["name"] for row in rows] == list(DATASETS)
    assert [row["found"] for row in rows] == ["embedded", None, None, None]
    assert rows[2]["attributes"] == {"gender": 2, "age": 7, "occupation": 21}


def test_list_tells_where_and_what_is_missing(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = tmp_path / "[red]shelf"  # must not be taken for markup
    shelf.mkdir()
    published.rename(shelf / "google-play")
    monkeypatch.setenv("ATTRIGUARD_DATA", str(shelf))
    assert json.loads(run("--json").stdout)[1]["found"] == str(shelf / "google-play")
    (shelf / "google-play" / "test_user.txt").unlink()
    row = json.loads(run("--json").stdout)[1]
    assert row["missing"] == ["test_user.txt"]
    text = run().stdout.replace("\n", "").replace(" ", "")
    assert "incomplete:notest_user.txtin" in text
    assert "[red]shelf" in text


def test_info_of_what_is_not_here() -> None:
    text = run("info", "movielens-1m").stdout
    for expected in ("6,040", "not here", "ratings.dat, users.dat, movies.dat", "GroupLens", "Harper"):
        assert expected in text
    facts = json.loads(run("info", "movielens-1m", "--json").stdout)
    assert facts["found"] is None
    assert "ratings" not in facts


def test_info_of_a_folder(published: Path) -> None:
    facts = json.loads(run("--json", "info", "google-play", "--path", str(published), "--verify").stdout)
    assert facts["users"] == 4
    assert facts["ratings"] == 6
    assert facts["ratings_per_user"] == {"min": 1, "median": 1.5, "mean": 1.5, "max": 2}
    assert facts["split"] == {"train": 3, "test": 1}
    assert list(facts["values"].values()) == [0.75, 0.25]
    assert facts["found"] == str(published)
    assert facts["as_published"] == dict.fromkeys(FILES, True)
    text = run("info", "google-play", "--path", str(published), "--verify").stdout
    for expected in ("min 1, median 1.5, mean 1.50, max 2", "75.0%", "3 train, 1 test", "(as published)"):
        assert expected in text
    (published / "test_label.txt").write_text("0\n")
    text = run("info", "google-play", "--path", str(published), "--verify").stdout
    assert "test_label.txt (NOT the published file)" in text


def test_info_of_a_joint_attribute(tmp_path: Path) -> None:
    (tmp_path / "ratings.dat").write_text("1::1::5::978300760\n2::1::1::978301968\n")
    (tmp_path / "users.dat").write_text("1::F::1::10::48067\n2::M::56::16::70072\n")
    (tmp_path / "movies.dat").write_text("1::Movie 1 (1995)::Comedy\n")
    joint = ("--attribute", "gender", "--attribute", "occupation")
    facts = json.loads(run("info", "movielens-1m", "--path", str(tmp_path), *joint, "--json").stdout)
    assert facts["attribute"] == "gender × occupation"
    assert len(facts["values"]) == 2


def test_fetch(server: None, published: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "google-play"
    result = run("fetch", "google-play")
    assert f"downloaded to {folder}" in result.stdout
    assert DATASETS["google-play"].licence in result.stderr
    assert "cite" in result.stderr
    assert {file.name: file.read_text() for file in folder.iterdir()} == FILES
    again = run("fetch", "google-play", "--json")
    assert json.loads(again.stdout) == {
        "name": "google-play",
        "found": str(folder),
        "downloaded": False,
        "files": list(FILES),
    }
    assert again.stderr == ""


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1)])
def test_fetch_asks_on_a_terminal(
    answer: str, code: int, server: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attriguard.cli.datasets._somebody_answers", lambda: True)
    result = run("fetch", "google-play", code=code, answer=answer)
    assert "Download it?" in result.stderr
    assert (tmp_path / "cache").exists() == (code == 0)


def test_fetch_does_not_ask_with_yes(server: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attriguard.cli.datasets._somebody_answers", lambda: True)
    result = run("fetch", "google-play", "--yes", "--json")
    assert "Download it?" not in result.output
    assert json.loads(result.stdout)["downloaded"] is True


def test_fetch_of_the_embedded_one() -> None:
    assert "nothing to fetch" in run("fetch", "twin").stdout
    assert json.loads(run("fetch", "twin", "--json").stdout)["found"] == "embedded"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("info", "nothing"), ParameterError),
        (("fetch", "nothing"), ParameterError),
        (("fetch", "google-play"), DownloadError),
        (("info", "google-play", "--path", "/nowhere/at/all"), DataError),
        (("info", "movielens-1m", "--verify"), DataError),
        (("info", "twin", "--path", "."), ParameterError),
    ],
)
def test_mistakes_are_errors_of_ours(arguments: tuple[str, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        run(*arguments)


def test_the_program_says_it_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["datasets", "info", "nothing"])
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("attriguard: error: unknown data set 'nothing'; known: twin, ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", [(), ("list",), ("info",), ("fetch",)])
def test_help_has_an_example(command: tuple[str, ...]) -> None:
    text = run(*command, "--help").stdout
    assert "Example: attriguard datasets" in text
    assert "--json" in text
