"""``ag.write_extension``: a guard as a browser extension, which says what a rating would tell before it is given."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from attriguard.guard import AttriGuard, load_guard
from attriguard.page.folder import extension_files, write_folder
from attriguard.page.pack import pack


def write_extension(
    guard: AttriGuard | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    titles: Sequence[str] | None = None,
) -> Path:
    """Write a browser extension (Manifest V3) for people to a folder.

    A person selects a title on any site and adds it from the context menu; the side panel says what a rating of it
    would tell about them, and what would balance it. The extension asks for no site's data, and sends nothing.

    Parameters
    ----------
    guard
        A fitted guard, or the path of one.
    folder
        Where to write it. An earlier extension there is replaced; a folder that holds anything else is refused.
    titles
        What people call the guard's items, in their order; "(year)" at the end is a title's year.

    Examples
    --------
    >>> import attriguard as ag, tempfile
    >>> data = ag.load_dataset("twin", n_users=300, n_items=50, n_values=2)
    >>> folder = ag.write_extension(ag.learn(data, goal="mislead"), tempfile.mkdtemp())
    >>> (folder / "manifest.json").exists()
    True
    """
    target = Path(folder)
    loaded = guard if isinstance(guard, AttriGuard) else load_guard(guard)
    write_folder(extension_files(pack(loaded, titles=titles)), target)
    return target
