"""Archives hold the whole package and nothing else; lower bounds are written as such; workflows say what they do."""

from __future__ import annotations

import tarfile
import zipfile

import contents
import lowest
import pytest

NEEDED = contents.expected()


def test_the_package_is_more_than_python():
    for name in ("py.typed", "page/page.html", "page/page.css", "page/extension/manifest.json"):
        assert f"attriguard/{name}" in NEEDED
    for ending in (".js", ".html", ".css"):
        assert any(name.endswith(ending) for name in NEEDED)


def test_a_whole_wheel_has_no_mistakes():
    names = [*NEEDED, "attriguard-1.dist-info/METADATA", "attriguard-1.dist-info/licenses/LICENSE"]
    assert not list(contents.mistakes(names, NEEDED, wheel=True))


@pytest.mark.parametrize(
    ("more", "less", "said"),
    [
        ([], ["attriguard/py.typed"], "missing: attriguard/py.typed"),
        (["tests/test_guard.py"], [], "has no place in it: tests/test_guard.py"),
        (["attriguard/__pycache__/guard.pyc"], [], "never in it: attriguard/__pycache__/guard.pyc"),
        (["attriguard/notes.txt"], [], "has no place in it: attriguard/notes.txt"),
    ],
)
def test_what_is_wrong_with_an_archive_is_told(more, less, said):
    names = [*(NEEDED - set(less)), *more]
    assert said in list(contents.mistakes(names, NEEDED, wheel=True))
    assert said.replace("attriguard/", "src/attriguard/") in [
        mistake.replace(" attriguard/", " src/attriguard/")
        for mistake in contents.mistakes(
            [name.replace("attriguard/", "src/attriguard/", 1) for name in names], NEEDED, wheel=False
        )
    ]


def test_names_of_archives(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a")
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as file:
        file.writestr("attriguard/py.typed", "")
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as file:
        file.add(tmp_path / "a.txt", "attriguard-1/src/attriguard/py.typed")
    assert contents.names_of(tmp_path / "x.whl") == ["attriguard/py.typed"]
    assert contents.names_of(tmp_path / "x.tar.gz") == ["src/attriguard/py.typed"]


def test_lower_bounds_become_pins():
    assert lowest.pinned(["numpy>=2.0", "scikit-learn>=1.6.1,<2"]) == ["numpy==2.0", "scikit-learn==1.6.1"]
    with pytest.raises(ValueError, match="no lower bound: rich"):
        lowest.pinned(["rich"])


def test_every_dependency_has_a_lower_bound():
    names = {pin.partition("==")[0] for pin in lowest.pins()}
    assert {"numpy", "duckdb", "implicit", "scikit-surprise", "cvxpy", "pandas"} <= names
    assert not names & {"torch", "pyspark"}
