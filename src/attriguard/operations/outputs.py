"""What must hold before long work whose result will be written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from attriguard.data.files import make_folder
from attriguard.data.tables.table import check_output_suffix
from attriguard.errors import DataError, ParameterError
from attriguard.operations.results import check_result_suffix
from attriguard.report.origin import made_at
from attriguard.report.plan_table import check_plan_suffix

PathLike = str | os.PathLike[str] | None


def check_outputs(
    *others: PathLike,
    result: PathLike = None,
    table: PathLike = None,
    plan: PathLike = None,
    read: Iterable[PathLike] = (),
) -> None:
    """Refuse, before the work, files that could not be written, or that would overwrite what is read.

    ``result`` will hold a result, ``table`` a released table, ``plan`` a plan; their names must end accordingly.
    """
    taken = [Path(path) for path in read if path is not None]
    for output in (Path(path) for path in (result, table, plan, *others) if path is not None):
        if output.is_dir():
            raise DataError(f"{output} is a folder; name the file to write")
        if any(_same_file(output, other) for other in taken):
            raise ParameterError(
                f"{output} would be overwritten, and this command needs it; name another file to write"
            )
        if not os.access(make_folder(output.parent), os.W_OK):
            raise DataError(f"{output} cannot be written: {output.parent} is read-only; name another folder")
        taken.append(output)
    made_at()  # which a page will tell
    if result is not None:
        check_result_suffix(Path(result))
    if table is not None:
        check_output_suffix(Path(table))
    if plan is not None:
        check_plan_suffix(Path(plan))


def _same_file(one: Path, two: Path) -> bool:
    return one.resolve() == two.resolve() or (one.exists() and two.exists() and one.samefile(two))
