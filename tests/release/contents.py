"""What an archive of the package must hold, and what it must not."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "attriguard"
# Beside the package itself, in a source archive.
SOURCE = {"PKG-INFO", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", ".gitignore"}
NEVER = ("__pycache__", "tests", "results", "docs", ".venv", "node_modules")


def names_of(archive: Path) -> list[str]:
    """The files of a wheel, or those of a source archive below its one folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as file:
            return [name for name in file.namelist() if not name.endswith("/")]
    with tarfile.open(archive) as file:
        return [name.partition("/")[2] for name in file.getnames() if "/" in name]


def expected() -> set[str]:
    """Every file of the package as it stands in the repository, named from attriguard/ on."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {f"attriguard/{path.relative_to(PACKAGE).as_posix()}" for path in files}


def mistakes(names: Iterable[str], needed: set[str], *, wheel: bool) -> Iterator[str]:
    """What is missing and what has no place in an archive with these names."""
    found = set(names)
    prefix = "" if wheel else "src/"
    package = {name.removeprefix(prefix) for name in found if name.startswith(f"{prefix}attriguard/")}
    yield from (f"missing: {name}" for name in sorted(needed - package))
    others = {name for name in found if name.removeprefix(prefix) not in package}
    if wheel:
        others = {name for name in others if ".dist-info/" not in name}
    else:
        others -= SOURCE
    yield from (f"has no place in it: {name}" for name in sorted(others | (package - needed)))
    yield from (f"never in it: {name}" for name in sorted(found) if set(PurePosixPath(name).parts) & set(NEVER))
