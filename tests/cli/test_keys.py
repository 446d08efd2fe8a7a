"""Keys on the command line: made, read from files, and never lost, guessed or shown by mistake."""

from __future__ import annotations

import json
import os
import stat

import pytest

import attriguard as ag
from attriguard.errors import DataError, ParameterError

TYPED = "a key on the command line can be read by others while the command runs; use --key @FILE or $ATTRIGUARD_KEY"


@pytest.fixture
def protect(cli, files, guard_file, tmp_path, monkeypatch):
    """Protect with a key, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*options):
        given = options if "--output" in options else (*options, "--output", "out.csv")
        return cli("protect", files / "ratings.csv", "--guard", guard_file, "-q", *given)

    return call


@pytest.mark.posix
def test_a_new_key_is_random_and_only_its_owner_can_read_it(cli, tmp_path):
    path = tmp_path / "keys" / "secret.key"
    old = os.umask(0)
    try:
        code, out, err = cli("key", "new", path)
    finally:
        os.umask(old)
    assert (code, err) == (0, "")
    assert out == f"wrote {path}; use it with: attriguard protect … --key @{path}\n"
    assert len(bytes.fromhex(path.read_text())) == 32
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ag.new_key(tmp_path / "other.key").read_text() != path.read_text()
    assert ag.read_key(path) == path.read_bytes().strip()
    assert json.loads(cli("key", "new", tmp_path / "third.key", "--json")[1]) == {"key": str(tmp_path / "third.key")}
    assert cli("key", "new", tmp_path / "fourth.key", "-q") == (0, "", "")


@pytest.mark.posix
def test_a_key_is_never_overwritten(cli, tmp_path):
    path = ag.new_key(tmp_path / "secret.key")
    before = path.read_text()
    code, out, err = cli("key", "new", path)
    assert (code, out) == (2, "")
    assert f"{path} is there already" in err
    (tmp_path / "link.key").symlink_to(tmp_path / "nowhere.key")
    with pytest.raises(DataError, match="is there already"):
        ag.new_key(tmp_path / "link.key")
    assert path.read_text() == before
    with pytest.raises(DataError, match="cannot be used as a folder"):
        ag.new_key(path / "inside.key")


def test_the_name_of_a_file_is_no_key(protect, tmp_path):
    path = ag.new_key(tmp_path / "a-long-name-of-a-secret.key")
    code, _, err = protect("--key", path.name)
    assert (code, len(err.splitlines())) == (2, 1)
    assert f"write --key @{path.name}" in err
    assert not (tmp_path / "out.csv").exists()
    with pytest.raises(ParameterError, match=r"key=pathlib\.Path"):
        ag.protect(tmp_path, key=str(path))
    assert protect("--key", f"@{path.name}") == (0, "", protect()[2])


@pytest.mark.parametrize(
    "options", [["--output"], ["--output", "out.csv", "--plan"], ["--output", "out.csv", "--report"]]
)
@pytest.mark.parametrize("name", ["key.csv", "key.parquet", "key.json"])
def test_the_file_of_the_key_is_never_an_output(protect, tmp_path, options, name):
    path = ag.new_key(tmp_path / name)
    before = path.read_text()
    for key in (f"@{name}", f"@./{name}", f"@{path}"):
        code, _, err = protect("--key", key, *options, name)
        assert (code, path.read_text()) == (2, before)
        assert f"{name} would be overwritten" in err


@pytest.mark.posix
def test_a_key_that_others_see_is_warned_of_in_one_line(protect, tmp_path, monkeypatch):
    secret = "correct horse battery"

    def told(*options):
        code, _, err = protect(*options)
        assert code == 0, err
        assert secret not in err
        return [line for line in err.splitlines() if "key" in line]

    assert told("--key", secret) == [f"attriguard: warning: {TYPED}"]
    (tmp_path / "secret.key").write_text(secret)
    (tmp_path / "secret.key").chmod(0o600)
    assert told("--key", "@secret.key") == []
    monkeypatch.setenv("ATTRIGUARD_KEY", secret)
    assert told() == []
    monkeypatch.setenv("ATTRIGUARD_KEY", "@secret.key")
    assert told() == []
    if os.name == "posix":
        for mode in (0o640, 0o604, 0o620):
            (tmp_path / "secret.key").chmod(mode)
            (line,) = told()
            assert line.endswith("keep it to yourself with: chmod 600 secret.key")
