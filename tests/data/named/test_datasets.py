"""Named data sets: the table, where files are looked for, and what load_dataset refuses."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attriguard.data.named import datasets
from attriguard.data.named.datasets import (
    cache_folder,
    fetch_dataset,
    find_dataset,
    load_dataset,
    search_folders,
    verify_dataset,
)
from attriguard.data.named.registry import DATASETS, DataFile, Dataset
from attriguard.errors import DataError, DownloadError, ParameterError

GOOGLE_PLAY = {
    "train_user.txt": "0:1.0 2:0.4\n1:0.2\n0:0.6 1:0.8\n",
    "train_label.txt": "0\n1\n1\n",
    "test_user.txt": "2:0.8\n",
    "test_label.txt": "0\n",
}
MOVIELENS_100K = {
    "u.data": "1\t1\t5\t881250949\n1\t2\t3\t881250949\n2\t1\t1\t881250949\n",
    "u.user": "1|24|M|technician|85711\n2|53|F|other|94043\n",
    "u.item": "".join(
        f"{number}|Movie {number} (1995)|01-Jan-1995||http://example.org|" + "|".join("0" * 19) + "\n"
        for number in (1, 2)
    ),
}
MOVIELENS_1M = {
    "ratings.dat": "1::1::5::978300760\n1::2::3::978302109\n2::1::1::978301968\n",
    "users.dat": "1::F::1::10::48067\n2::M::56::16::70072\n",
    "movies.dat": "1::Movie 1 (1995)::Comedy\n2::Movie 2 (1995)::Drama\n",
}
TINY = {"google-play": GOOGLE_PLAY, "movielens-100k": MOVIELENS_100K, "movielens-1m": MOVIELENS_1M}


def put(name: str, folder: Path) -> Path:
    """The files of a tiny data set in the format of the named one."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in TINY[name].items():
        (folder / file).write_text(text, encoding="latin-1")
    return folder


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No data, an empty cache, no way out to the network, and the tiny files as the published ones."""
    monkeypatch.setenv("ATTRIGUARD_DATA", str(tmp_path / "shelf"))
    monkeypatch.setenv("ATTRIGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")
    for name, dataset in DATASETS.items():
        tiny = [(file, text.encode("latin-1")) for file, text in TINY.get(name, {}).items()]
        files = tuple(DataFile(file, hashlib.sha256(text).hexdigest(), len(text)) for file, text in tiny)
        monkeypatch.setitem(DATASETS, name, replace(dataset, base_url="http://127.0.0.1:1/", files=files))


# --- the table ---


@pytest.mark.parametrize("name", list(DATASETS))
def test_every_entry_is_complete(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    dataset = DATASETS[name]
    assert dataset.name == name
    assert min(dataset.users, dataset.items, *dataset.attributes.values()) > 1
    assert all((dataset.title, dataset.description, dataset.licence, dataset.citation))
    assert dataset.embedded == (not dataset.base_url or name == "twin")
    hashes = [file.sha256 for file in dataset.files] + ([dataset.archive.sha256] if dataset.archive else [])
    assert all(digest is None or re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes)
    if dataset.files and dataset.archive is None:
        assert None not in hashes


def test_real_addresses_are_encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    for dataset in DATASETS.values():
        assert dataset.embedded or re.fullmatch(r"https://.*/", dataset.base_url)


# --- where files are looked for ---


@pytest.mark.parametrize("name", list(TINY))
def test_order_of_places(name: str, tmp_path: Path) -> None:
    assert find_dataset(name) is None
    cached = put(name, tmp_path / "cache" / name)
    assert find_dataset(name) == cached
    shelved = put(name, tmp_path / "shelf" / name)
    assert find_dataset(name) == shelved
    given = put(name, tmp_path / "mine")
    assert find_dataset(name, given) == given
    assert find_dataset(name, str(given)) == given


def test_an_archive_unpacked_in_its_place_is_found(tmp_path: Path) -> None:
    inner = put("movielens-1m", tmp_path / "shelf" / "movielens-1m" / "ml-1m")
    assert find_dataset("movielens-1m") == inner
    assert find_dataset("movielens-1m", inner.parent) == inner
    (inner / "users.dat").unlink()
    with pytest.raises(DataError, match=r"ml-1m has no users\.dat"):
        load_dataset("movielens-1m")


def test_the_cache_is_the_users_unless_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ATTRIGUARD_DATA")
    assert search_folders("google-play") == [tmp_path / "cache" / "google-play"]
    monkeypatch.setenv("ATTRIGUARD_CACHE", "~/somewhere")
    assert cache_folder() == Path.home() / "somewhere"
    monkeypatch.delenv("ATTRIGUARD_CACHE")
    assert cache_folder().is_absolute()
    assert "attriguard" in str(cache_folder())


@pytest.mark.parametrize("place", ["mine", "shelf/google-play", "cache/google-play"])
@pytest.mark.parametrize("gone", list(GOOGLE_PLAY))
def test_a_missing_file_is_named(place: str, gone: str, tmp_path: Path) -> None:
    folder = put("google-play", tmp_path / place)
    (folder / gone).unlink()
    with pytest.raises(DataError) as caught:
        load_dataset("google-play", folder if place == "mine" else None)
    assert f"{folder} has no {gone};" in str(caught.value)
    assert ("attriguard datasets fetch google-play" in str(caught.value)) == place.startswith("cache")


def test_a_path_that_is_no_folder_or_empty(tmp_path: Path) -> None:
    put("google-play", tmp_path / "shelf" / "google-play")
    with pytest.raises(DataError, match="nothing is not a folder"):
        load_dataset("google-play", tmp_path / "nothing")
    with pytest.raises(DataError, match=r"has no train_user\.txt, train_label\.txt"):
        load_dataset("google-play", tmp_path)


def test_not_here_and_no_download_allowed(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        load_dataset("movielens-1m", download=False)
    line = str(caught.value)
    assert "\n" not in line
    for expected in (tmp_path / "shelf" / "movielens-1m", tmp_path / "cache" / "movielens-1m", "ratings.dat"):
        assert str(expected) in line
    with pytest.raises(DataError, match="not on this machine"):
        verify_dataset("movielens-1m")


def test_offline_says_where_to_put_the_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DownloadError) as caught:
        load_dataset("movielens-100k")
    line = str(caught.value)
    assert "no connection to 127.0.0.1:1" in line
    assert f"into {tmp_path / 'cache' / 'movielens-100k'}" in line
    assert "u.data, u.user, u.item" in line
    assert capfd.readouterr() == ("", "")


# --- what is refused ---


@pytest.mark.parametrize("name", ["movielens", "Twin", "", None, 3])
def test_unknown_name(name: Any) -> None:
    with pytest.raises(ParameterError, match="known: twin, google-play, movielens-100k, movielens-1m"):
        load_dataset(name)


def test_options_belong_to_the_twin(tmp_path: Path) -> None:
    folder = put("google-play", tmp_path / "mine")
    with pytest.raises(ParameterError, match="google-play does not take the option n_users"):
        load_dataset("google-play", folder, n_users=10)
    with pytest.raises(ParameterError, match="option users; options of this data set: n_users, n_items"):
        load_dataset("twin", users=10)
    with pytest.raises(ParameterError, match="takes no path"):
        load_dataset("twin", folder)
    with pytest.raises(ParameterError, match="embedded"):
        fetch_dataset("twin")
    assert verify_dataset("twin") == {}


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("google-play", "gender"),
        ("twin", "age"),
        ("movielens-100k", ["gender", "zip"]),
        ("movielens-1m", ["gender", "gender"]),
        ("movielens-1m", []),
    ],
)
def test_unknown_attribute(name: str, attribute: str | list[str]) -> None:
    with pytest.raises(ParameterError, match="attribute"):
        load_dataset(name, attribute=attribute)


# --- fetching ---


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Downloads always work here; the list tells what was downloaded into which folder."""
    calls: list[Path] = []

    def pretend(dataset: Dataset, folder: Path, *, notify: Callable[[str], None] | None, progress: bool) -> Path:
        if notify is not None:
            notify(dataset.licence)
        calls.append(folder)
        return put(dataset.name, folder)

    monkeypatch.setattr(datasets, "download_files", pretend)
    return calls


@pytest.mark.parametrize("place", ["cache", "shelf"])
def test_a_whole_copy_is_not_fetched_again(place: str, downloads: list[Path], tmp_path: Path) -> None:
    folder = put("google-play", tmp_path / place / "google-play")
    assert fetch_dataset("google-play") == folder
    assert verify_dataset("google-play") == dict.fromkeys(GOOGLE_PLAY, True)
    assert not downloads


def test_a_damaged_copy_in_the_cache_is_replaced(downloads: list[Path], tmp_path: Path) -> None:
    folder = put("google-play", tmp_path / "cache" / "google-play")
    (folder / "test_user.txt").write_text("0:1.0\n")
    assert verify_dataset("google-play")["test_user.txt"] is False
    assert fetch_dataset("google-play") == folder
    (folder / "test_user.txt").unlink()
    assert fetch_dataset("google-play") == folder
    assert downloads == [folder, folder]


def test_a_damaged_copy_on_the_shelf_is_left_alone(downloads: list[Path], tmp_path: Path) -> None:
    folder = put("google-play", tmp_path / "shelf" / "google-play")
    (folder / "test_user.txt").write_text("0:1.0\n")
    with pytest.raises(DataError, match=r"test_user\.txt in .*shelf.* is not the published file"):
        fetch_dataset("google-play")
    (folder / "test_user.txt").unlink()
    with pytest.raises(DataError, match=r"has no test_user\.txt"):
        fetch_dataset("google-play")
    assert not downloads


def test_load_downloads_once_and_tells_the_terms(downloads: list[Path], tmp_path: Path) -> None:
    told: list[str] = []
    for _ in range(2):
        assert load_dataset("google-play", notify=told.append).n_users == 4
    assert downloads == [tmp_path / "cache" / "google-play"]
    assert told == [DATASETS["google-play"].licence]


@pytest.mark.parametrize("terminal", [True, False])
def test_load_shows_the_terms_on_a_terminal_only(
    terminal: bool,
    downloads: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    load_dataset("google-play")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (DATASETS["google-play"].licence + "\n" if terminal else "")


@pytest.mark.parametrize(
    ("place", "remedy"),
    [
        ("mine", "name another folder"),
        ("shelf/google-play", "name another folder"),
        ("cache/google-play", "run 'attriguard datasets fetch google-play'"),
    ],
)
def test_an_altered_copy_is_not_loaded(place: str, remedy: str, tmp_path: Path) -> None:
    folder = put("google-play", tmp_path / place)
    path = folder if place == "mine" else None
    assert load_dataset("google-play", path).n_users == 4
    (folder / "test_user.txt").write_text("2:0.6\n")  # as long as before
    with pytest.raises(DataError, match=r"test_user\.txt in .* is not the published file .*; ") as caught:
        load_dataset("google-play", path)
    assert str(caught.value).endswith(remedy)
    assert load_dataset("google-play", path, verify=False).n_users == 4


# --- what comes back ---


def test_tiny_google_play(tmp_path: Path) -> None:
    data = load_dataset("google-play", put("google-play", tmp_path / "mine"), attribute="city")
    assert data.attribute == "city"
    assert data.X.nnz == 6
    assert data.test.n_users == 1
    np.testing.assert_array_equal(data.y, [0, 1, 1, 0])


@pytest.mark.parametrize("name", ["movielens-100k", "movielens-1m"])
def test_tiny_movielens(name: str, tmp_path: Path) -> None:
    folder = put(name, tmp_path / "shelf" / name)
    gender = load_dataset(name)
    assert gender.attribute == "gender"
    assert (gender.n_users, gender.n_items, gender.m) == (2, 2, 2)
    joint = load_dataset(name, folder, attribute=["gender", "occupation"])
    assert joint.attribute == "gender × occupation"
    assert joint.m == 2


def test_twin_with_options() -> None:
    data = load_dataset("twin", n_users=300, n_items=200, n_values=4, seed=1)
    assert (data.n_users, data.n_items, data.m, data.attribute) == (300, 200, 4, "city")


def test_real_google_play_matches_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    shared = Path(__file__).resolve().parents[4] / "shared" / "data"
    shelf = Path(os.environ.get("ATTRIGUARD_DATA", shared))
    if not (shelf / "google-play").is_dir():
        pytest.skip("the Google Play data is not here: set ATTRIGUARD_DATA to the folder above google-play/")
    monkeypatch.setenv("ATTRIGUARD_DATA", str(shelf))
    dataset = DATASETS["google-play"]
    data = load_dataset("google-play", download=False)
    assert (data.n_users, data.n_items) == (dataset.users, dataset.items)
    assert (data.attribute, data.m) == ("city", dataset.attributes["city"])
    assert data.X.nnz == 376_597
    assert (data.train.n_users, data.test.n_users) == (14_607, 1_631)
    assert verify_dataset("google-play") == dict.fromkeys(dataset.file_names, True)
