"""What the name of a table's file says about its format; loads nothing, so that a wrong name is told at once."""

from __future__ import annotations

from pathlib import Path

from attriguard.errors import DataError

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
PARQUET_SUFFIXES = (".parquet", ".pq")


def suffix_of(path: Path) -> str:
    """The end of a file's name in lower case; that of a packed file has two parts."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])


def known_suffixes() -> str:
    """How a table's file name may end, for an error line."""
    return f"a table's file name ends in {', '.join(TEXT_SUFFIXES + PARQUET_SUFFIXES[:1])}"


def check_output_suffix(path: Path) -> str:
    """The suffix of an output file; an unknown one is refused, so that this is noticed before any long work."""
    suffix = suffix_of(path)
    if suffix not in TEXT_SUFFIXES + PARQUET_SUFFIXES:
        raise DataError(f"{path.name}: {known_suffixes()}, got {suffix or 'none'}; give the output such a name")
    return suffix


def check_plan_suffix(path: Path) -> None:
    """Refuse a name that a plan is not written to."""
    if path.suffix.lower() != ".parquet":
        raise DataError(f"a plan is written as Parquet: name a file that ends in .parquet, got {path.name}")
