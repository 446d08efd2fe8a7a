from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.data.named.authors import read_authors_format, write_authors_format
from attriguard.data.named.registry import DATASETS
from attriguard.errors import DataError

FILES = {
    "train_user.txt": "0:1.0 3:0.2\n\n2:0.8\n",
    "train_label.txt": "1\n0\n-1\n",
    "test_user.txt": "1:0.6 5:1.0\n",
    "test_label.txt": "2\n",
}


def put(folder: Path, **changes: str | bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in FILES.items():
        content = changes.get(name.removesuffix(".txt"), text)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def test_the_four_files(tmp_path: Path) -> None:
    data = read_authors_format(put(tmp_path))
    expected = [[1.0, 0, 0, 0.2, 0, 0], [0] * 6, [0, 0, 0.8, 0, 0, 0], [0, 0.6, 0, 0, 0, 1.0]]
    assert np.allclose(data.X.toarray(), expected)
    assert data.users.tolist() == [0, 1, 2, 3]
    assert data.items.tolist() == list(range(6))
    assert (data.attribute, data.values) == ("city", ("0", "1", "2"))
    assert data.y.tolist() == [1, 0, -1, 2]
    assert data.test.users.tolist() == [3]
    assert data.scale == ag.RatingScale(1, 5, 1)
    assert read_authors_format(tmp_path, n_items=10, attribute="town").n_items == 10


def test_windows_line_ends_and_a_missing_last_one(tmp_path: Path) -> None:
    plain = read_authors_format(put(tmp_path / "a"))
    other = {name.removesuffix(".txt"): text.replace("\n", "\r\n") for name, text in FILES.items()}
    other["test_user"] = other["test_user"].rstrip()
    windows = read_authors_format(put(tmp_path / "b", **other))
    assert (windows.X != plain.X).nnz == 0
    assert windows.y.tolist() == plain.y.tolist()


def test_a_prefix_instead_of_a_folder(tmp_path: Path) -> None:
    put(tmp_path)
    for name in FILES:
        (tmp_path / name).rename(tmp_path / f"play_{name}")
    assert read_authors_format(tmp_path / "play").n_users == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"train_user": "0:1.0\n"}, r"train_user\.txt has 1 lines and train_label\.txt 3"),
        ({"train_user": "0:1.0\n\n2=0.8\n"}, r"train_user\.txt, line 3: pairs item:rating"),
        ({"train_user": "0:1.0\n3\n2:0.8:1\n"}, "line 2: pairs"),
        ({"train_user": "0:1.0\n-3:1.0\n\n"}, "line 2: pairs"),
        ({"train_user": "0:1.0\n3:nan\n\n"}, "line 2: pairs"),
        ({"test_user": "1:0.65\n"}, r"test_user\.txt, line 1: a rating must be one of the 5 levels.*1:0\.65"),
        ({"train_user": "1:1.0\n\n1:5\n"}, "line 3: a rating must be"),
        ({"train_user": "1:1.0\n\n1:0.0\n"}, "line 3: a rating must be"),
        ({"train_user": "1:1.0 2:0.2\n4:0.2 1:1.0 4:0.4\n\n"}, r"line 2: a user rates an item once, got 4:0\.4"),
        ({"train_label": "1\nBoston\n0\n"}, r"train_label\.txt, line 2: a label must be"),
        ({"train_label": "1\n-2\n0\n"}, "line 2: a label must be"),
        ({"train_label": "2\n2\n-1\n"}, "at least two values"),
        ({"train_user": b"\xff\xfe:1\n\n\n"}, "line 1: pairs"),
        ({"train_label": b"\xff\n1\n1\n"}, "line 1: a label"),
    ],
)
def test_bad_files_say_which_line(tmp_path: Path, changes: dict[str, str], words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read_authors_format(put(tmp_path, **changes))
    assert "Boston" not in str(caught.value)


def test_missing_files_and_too_few_items(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"must be a folder with .*none_train_user\.txt"):
        read_authors_format(tmp_path / "none")
    put(tmp_path)
    with pytest.raises(DataError, match=r"test_user\.txt, line 1: an item must be below n_items, 5, got 5:1"):
        read_authors_format(tmp_path, n_items=5)
    (tmp_path / "test_label.txt").unlink()
    with pytest.raises(DataError, match=r"with test_label\.txt, but"):
        read_authors_format(tmp_path)


@given(
    arrays(np.int8, (5, 4), elements=st.integers(0, 5)),
    st.lists(st.integers(-1, 2), min_size=5, max_size=5).filter(lambda y: len({*y} - {-1}) > 1),
    st.lists(st.booleans(), min_size=5, max_size=5),
)
def test_what_is_written_is_read_again(tmp_path_factory, levels, y, in_test) -> None:
    data = ag.PublicData(
        X=csr_array(levels / np.float32(5)),
        users=np.arange(5),
        items=np.arange(4),
        scale=ag.RatingScale(1, 5, 1),
        attribute="city",
        y=y,
        values=("a", "b", "c"),
        test_mask=np.array(in_test),
    )
    folder = tmp_path_factory.mktemp("authors")
    write_authors_format(data, folder)
    back = read_authors_format(folder, n_items=4)
    order = np.argsort(in_test, kind="stable")
    assert np.array_equal(back.X.toarray(), data.X.toarray()[order])
    assert back.y.tolist() == data.y[order].tolist()
    assert back.test_mask.sum() == sum(in_test)


@given(st.binary(max_size=60), st.binary(max_size=20))
def test_any_bytes_are_read_or_refused(tmp_path_factory, users: bytes, labels: bytes) -> None:
    folder = put(tmp_path_factory.mktemp("authors"), train_user=users, train_label=labels)
    with suppress(DataError):
        read_authors_format(folder, n_items=10)


def test_the_papers_own_files_are_written_back_byte_for_byte(google_play, tmp_path: Path) -> None:
    assert (google_play.n_users, google_play.n_items, google_play.m) == (16_238, 10_000, 25)
    assert google_play.X.nnz == 376_597
    assert google_play.test_mask.sum() == 1_631
    counts = np.unique(google_play.X.data, return_counts=True)[1]
    assert counts.tolist() == [16_241, 10_419, 26_716, 68_536, 254_685]
    assert np.bincount(google_play.y).max() / google_play.n_users == pytest.approx(0.099, abs=5e-4)
    write_authors_format(google_play, tmp_path)
    for file in DATASETS["google-play"].files:
        assert sha256((tmp_path / file.name).read_bytes()).hexdigest() == file.sha256
