"""What must hold of files before long work; loads nothing heavy, so that a mistake is told at once."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from attriguard.data.files import check_file, check_target, make_folder
from attriguard.data.tables.suffixes import check_output_suffix, check_plan_suffix
from attriguard.errors import DataError, ParameterError
from attriguard.report.origin import made_at

RESULT_SUFFIXES = (".html", ".json", ".csv", ".parquet")
PathLike = str | os.PathLike[str] | None


def check_outputs(
    *others: PathLike,
    result: PathLike = None,
    table: PathLike = None,
    plan: PathLike = None,
    read: Iterable[PathLike] = (),
) -> None:
    """Refuse, before the work, files that are not there, could not be written, or would overwrite what is read.

    ``read`` will be read. ``result`` will hold a result, ``table`` a released table, ``plan`` a plan; their names must
    end accordingly.
    """
    taken = [check_file(Path(path)) for path in read if path is not None]
    for output in (Path(path) for path in (result, table, plan, *others) if path is not None):
        target = check_target(output)
        if any(_same_file(output, other) for other in taken):
            raise ParameterError(
                f"{output} would be overwritten, and this command needs it; name another file to write"
            )
        if target is not None and not os.access(make_folder(target.parent), os.W_OK):
            raise DataError(f"{output} cannot be written: {target.parent} is read-only; name another folder")
        taken.append(output)
    made_at()  # which a page will tell
    if result is not None:
        check_result_suffix(Path(result))
    if table is not None:
        check_output_suffix(Path(table))
    if plan is not None:
        check_plan_suffix(Path(plan))


def check_result_suffix(path: Path) -> None:
    """Refuse a name that says no form which every result has; asked before the long work."""
    if path.suffix.lower() not in RESULT_SUFFIXES:
        raise ParameterError(
            f"{path.name}: a result is written as {', '.join(RESULT_SUFFIXES)}; give the file such a name"
        )


def _same_file(one: Path, two: Path) -> bool:
    return one.resolve() == two.resolve() or (one.exists() and two.exists() and one.samefile(two))
