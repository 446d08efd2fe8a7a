"""``ag.write_extension``: a guard as a browser extension, which says what a rating would tell before it is given."""

from __future__ import annotations

import os
from pathlib import Path

from attriguard.guard import AttriGuard, load_guard
from attriguard.operations.page import Titles, WrittenPage, packed_with, written
from attriguard.page.folder import extension_files, write_folder


def write_extension(
    guard: AttriGuard | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    titles: Titles | None = None,
) -> WrittenPage:
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
        What people call the items, as `write_page` takes it: a table or a mapping of id and title, or a title for each.

    Examples
    --------
    >>> import attriguard as ag, tempfile
    >>> data = ag.load_dataset("twin", n_users=300, n_items=50, n_values=2)
    >>> made = ag.write_extension(ag.learn(data, goal="mislead"), tempfile.mkdtemp(), titles=data.item_names)
    >>> (made.path / "manifest.json").exists(), made.warnings
    (True, ())
    """
    loaded = guard if isinstance(guard, AttriGuard) else load_guard(guard)
    packed, titled = packed_with(loaded, titles)
    files = extension_files(packed)
    write_folder(files, Path(folder))
    return written(Path(folder), sum(map(len, files.values())), packed.card, titled)
