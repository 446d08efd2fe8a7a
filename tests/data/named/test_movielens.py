from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attriguard.data.named.movielens import AGE_BANDS, OCCUPATIONS, read_movielens
from attriguard.data.releases.release import release_table
from attriguard.errors import DataError, ParameterError

ML_100K = {
    "u.data": "2\t10\t3\t881250949\n1\t10\t5\t891717742\n1\t20\t1\t878887116\n3\t20\t4\t880606923\n",
    "u.user": "1|24|M|technician|85711\n2|53|F|other|94043\n3|17|F|student|32067\n",
    "u.item": '10|Délicatessen (1991)|01-Jan-1991||http://x|0|1\n20|"Quoted" (1990)|||http://y|1|0\n30|Unseen|||z|0|0\n',
}
ML_1M = {
    "ratings.dat": "1::10::5::978300760\n1::20::3::978302109\n2::10::1::978301968\n3::20::2::978300275\n",
    "users.dat": "1::F::1::10::48067\n2::M::56::16::70072\n3::M::25::15::55117\n",
    "movies.dat": "10::Délicatessen: a film (1991)::Comedy|Sci-Fi\n20::Alien (1979)::Horror\n",
}


def put(folder: Path, files: dict[str, str], **changes: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        text = changes.get(name.replace(".", "_"), text)
        (folder / name).write_bytes(text.encode("latin-1"))
    return folder


def test_100k(tmp_path: Path) -> None:
    data = read_movielens(put(tmp_path, ML_100K))
    assert data.users.tolist() == [1, 2, 3]
    assert data.items.tolist() == [10, 20]
    assert data.item_names.tolist() == ["Délicatessen (1991)", '"Quoted" (1990)']
    assert np.allclose(data.X.toarray(), [[1.0, 0.2], [0.6, 0.0], [0.0, 0.8]])
    assert (data.attribute, data.values, data.y.tolist()) == ("gender", ("F", "M"), [1, 0, 0])
    assert data.scale.levels == 5


def test_none_is_an_occupation_and_rare_combinations_are_as_they_are(tmp_path: Path) -> None:
    users = "".join(f"{k}|{k % 70}|M|{'none' if k % 2 else f'job {k}'}|0\n" for k in range(1, 121))
    ratings = "".join(f"{k}\t10\t3\t0\n" for k in range(1, 121))
    data = read_movielens(put(tmp_path, ML_100K, u_user=users, u_data=ratings), attribute=["age", "occupation"])
    assert data.disclosed.all()
    assert "18-24 × none" in data.values
    assert data.m > 60
    assert data.notes == ()


def test_1m(tmp_path: Path) -> None:
    data = read_movielens(put(tmp_path, ML_1M), attribute="occupation")
    assert np.allclose(data.X.toarray(), [[1.0, 0.6], [0.2, 0.0], [0.0, 0.4]])
    assert data.item_names.tolist() == ["Délicatessen: a film (1991)", "Alien (1979)"]
    assert data.values == ("K-12 student", "scientist", "self-employed")
    assert data.y.tolist() == [0, 2, 1]


def test_age_bands_are_those_of_1m_in_their_order(tmp_path: Path) -> None:
    ages = [7, 17, 18, 24, 25, 34, 35, 44, 45, 49, 50, 55, 56, 73]
    users = "".join(f"{k}|{age}|M|other|0\n" for k, age in enumerate(ages, start=1))
    ratings = "".join(f"{k}\t10\t3\t0\n" for k in range(1, len(ages) + 1))
    data = read_movielens(put(tmp_path / "k", ML_100K, u_user=users, u_data=ratings), attribute="age")
    assert data.values == AGE_BANDS
    assert data.y.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    codes = [1, 18, 25, 35, 45, 50, 56]
    users = "".join(f"{k}::M::{code}::0::0\n" for k, code in enumerate(codes, start=1))
    ratings = "".join(f"{k}::10::3::0\n" for k in range(1, 8))
    data = read_movielens(put(tmp_path / "m", ML_1M, users_dat=users, ratings_dat=ratings), attribute="age")
    assert data.y.tolist() == list(range(7))


def test_joint_attributes_keep_the_order_of_both(tmp_path: Path) -> None:
    data = read_movielens(put(tmp_path, ML_100K), attribute=["gender", "age"])
    assert data.attribute == "gender × age"
    assert data.values == ("F × Under 18", "F × 50-55", "M × 18-24")
    assert data.y.tolist() == [2, 1, 0]


def test_the_release_keeps_the_timestamps(tmp_path: Path) -> None:
    data = read_movielens(put(tmp_path, ML_100K))
    table = release_table(data, data.X)
    assert table.column_names == ["user", "item", "rating", "timestamp"]
    assert table.column("timestamp").to_pylist() == [881250949, 891717742, 878887116, 880606923]


def test_the_folder_that_holds_the_unpacked_archive(tmp_path: Path) -> None:
    put(tmp_path / "ml-1m", ML_1M)
    assert read_movielens(tmp_path).n_users == 3


def test_there_are_21_occupations_and_7_bands() -> None:
    assert len(OCCUPATIONS) == 21
    assert OCCUPATIONS[12] == "programmer"
    assert len(AGE_BANDS) == 7


@pytest.mark.parametrize(
    ("files", "changes", "words"),
    [
        (ML_100K, {"u_data": "1\t10\t5\n"}, r"u\.data must have user, item, rating, timestamp"),
        (ML_100K, {"u_data": "1\t10\t5\t0\n1\t10\n"}, r"u\.data has 2 fields in line 2, but 4"),
        (ML_100K, {"u_data": "1\tten\t5\t0\n"}, r"u\.data, line 1: the item must be a whole number"),
        (ML_100K, {"u_data": "1\t10\t6\t0\n"}, r"u\.data, row 1, column 'rating': the rating 6 is not on the scale"),
        (ML_100K, {"u_data": "1\t10\t5\t0\n1\t10\t4\t0\n"}, "pairs that come more than once"),
        (ML_100K, {"u_user": ""}, r"u\.user is empty"),
        (ML_1M, {"users_dat": "1::F::1::99::0\n2::M::1::0::0\n3::M::1::0::0\n"}, r"users\.dat, line 1: an occupation"),
        (ML_1M, {"movies_dat": "x::y::z\n"}, r"movies\.dat, line 1: the film must be a whole number"),
    ],
)
def test_bad_files(tmp_path: Path, files: dict[str, str], changes: dict[str, str], words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_movielens(put(tmp_path, files, **changes), attribute=["gender", "occupation"])


def test_wrong_folders_and_attributes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"must hold MovieLens 100K \(u\.data"):
        read_movielens(tmp_path)
    put(tmp_path, ML_100K)
    with pytest.raises(ParameterError, match="unknown MovieLens attribute 'zip'; known: gender, age, occupation"):
        read_movielens(tmp_path, attribute="zip")
    (tmp_path / "u.user").unlink()
    with pytest.raises(DataError, match=r"lacks u\.user"):
        read_movielens(tmp_path)
    with pytest.raises(DataError, match="unpack the archive"):
        read_movielens(tmp_path / "u.data")
