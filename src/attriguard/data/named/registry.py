"""The table of named data sets.

A new data set is one more entry in ``DATASETS`` (and a reader, if its format is new).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attriguard.data.public_data import PublicData

ATTRIGUARD_PAPER = (
    "Jinyuan Jia and Neil Zhenqiang Gong. AttriGuard: A Practical Defense Against Attribute Inference "
    "Attacks via Adversarial Machine Learning. USENIX Security Symposium, 2018."
)
MOVIELENS_PAPER = (
    "F. Maxwell Harper and Joseph A. Konstan. The MovieLens Datasets: History and Context. "
    "ACM Transactions on Interactive Intelligent Systems 5(4), article 19, 2015. doi:10.1145/2827872"
)
MOVIELENS_LICENCE = (
    "For research; no commercial use and no redistribution without GroupLens' permission, no claim of its "
    "endorsement, and publications acknowledge the data set. Full terms: "
    "https://files.grouplens.org/datasets/movielens/{archive}-README.txt"
)


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that the reader needs; ``sha256`` and ``size``, in bytes, are None where they are not known."""

    name: str
    sha256: str | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Archive:
    """The zip that the files come in, all of them in one ``folder`` inside it."""

    name: str
    sha256: str
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """What is known of a data set before it is loaded.

    ``users`` and ``items`` are the sizes of the loaded data; ``attributes`` gives the number of values of
    each attribute, the default one first. Files are fetched from ``base_url`` + their name, or out of the
    ``archive`` there; ``load`` takes their folder and the chosen attributes. A data set without files is
    embedded: ``load`` takes the ``options`` and makes it.
    """

    name: str
    title: str
    description: str
    users: int
    items: int
    attributes: Mapping[str, int] = field(hash=False)
    licence: str
    citation: str
    load: Callable[..., PublicData]
    files: tuple[DataFile, ...] = ()
    base_url: str = ""
    archive: Archive | None = None
    options: tuple[str, ...] = ()

    @property
    def embedded(self) -> bool:
        """Whether the data set is made by the package, without any file."""
        return not self.files

    @property
    def file_names(self) -> tuple[str, ...]:
        """The names of the files that the reader needs."""
        return tuple(file.name for file in self.files)


def _make_twin(**options: Any) -> PublicData:
    from attriguard.data.named.twin import make_twin

    return make_twin(**options)


def _read_authors(folder: Path, attributes: tuple[str, ...]) -> PublicData:
    from attriguard.data.named.authors import read_authors_format

    return read_authors_format(folder)


def _read_movielens(folder: Path, attributes: tuple[str, ...]) -> PublicData:
    from attriguard.data.named.movielens import read_movielens

    return read_movielens(folder, attribute=attributes[0] if len(attributes) == 1 else list(attributes))


DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="twin",
            title="Synthetic twin of the Google Play data",
            description="App ratings and cities drawn from a seed; behaves like the data of the paper.",
            users=16_238,
            items=10_000,
            attributes={"city": 25},
            licence="MIT, as the package; no real person is in it.",
            citation=ATTRIGUARD_PAPER,
            load=_make_twin,
            options=("n_users", "n_items", "n_values", "seed", "dates"),
        ),
        Dataset(
            name="google-play",
            title="Google Play app ratings (AttriGuard)",
            description="The data of the paper: app ratings, the city a user lives in, the authors' split.",
            users=16_238,
            items=10_000,
            attributes={"city": 25},
            licence="The authors name no licence; they ask that their paper be cited.",
            citation=ATTRIGUARD_PAPER,
            files=(
                DataFile(
                    "train_user.txt", "34fe9930e5ae038f3ff32cbaaa2ea7f33f2657b83f78c9db3c387af221f356ca", 2_793_250
                ),
                DataFile("train_label.txt", "b7f99d7e5dbc906ab7cd356a616746001cc7a055872d713a6767efdd2939a9fe", 35_048),
                DataFile("test_user.txt", "fdcf5e4c382d155d703a3426909c54699e48644d39835bfc1dea6e6f7f0ead4f", 305_580),
                DataFile("test_label.txt", "6249df17c7c7ac2187e6e1bc646cd6a24884dde1fba226d0bd2388817782ef14", 3_899),
            ),
            # A commit and not a branch: what is behind the address can never change.
            base_url=(
                "https://raw.githubusercontent.com/jinyuan-jia/AttriGuard/"
                "903e3847845be2565b086704a3d9bbe3279b21a9/data/"
            ),
            load=_read_authors,
        ),
        Dataset(
            name="movielens-100k",
            title="MovieLens 100K",
            description="100,000 movie ratings of 1997/98, one to five stars.",
            users=943,
            items=1_682,
            attributes={"gender": 2, "age": 7, "occupation": 21},
            licence=MOVIELENS_LICENCE.format(archive="ml-100k"),
            citation=MOVIELENS_PAPER,
            files=(
                DataFile("u.data", "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490"),
                DataFile("u.user", "f120e114da2e8cf314fd28f99417c94ae9ddf1cb6db8ce0e4b5995d40e90e62c"),
                DataFile("u.item", "553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701"),
            ),
            base_url="https://files.grouplens.org/datasets/movielens/",
            archive=Archive(
                "ml-100k.zip", "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229", "ml-100k"
            ),
            load=_read_movielens,
        ),
        Dataset(
            name="movielens-1m",
            title="MovieLens 1M",
            description="1,000,209 movie ratings of 2000 to 2003, one to five stars.",
            users=6_040,
            items=3_706,
            attributes={"gender": 2, "age": 7, "occupation": 21},
            licence=MOVIELENS_LICENCE.format(archive="ml-1m"),
            citation=MOVIELENS_PAPER,
            files=(
                DataFile("ratings.dat", "506d64ca44484487c11dc2d9a28de5c54948213e6b96285e298afe28d6ea4e0f"),
                DataFile("users.dat"),
                DataFile("movies.dat"),
            ),
            base_url="https://files.grouplens.org/datasets/movielens/",
            archive=Archive("ml-1m.zip", "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20", "ml-1m"),
            load=_read_movielens,
        ),
    )
}


def dataset_names() -> list[str]:
    """The names of all data sets; loads nothing."""
    return list(DATASETS)


def get_dataset(name: str) -> Dataset:
    """The entry of a data set in the table."""
    from attriguard._checks import check_choice

    return DATASETS[check_choice(name, DATASETS, name="data set")]
