"""Loading a named data set: where its files are looked for, and what happens if they are not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attriguard._checks import check_choice
from attriguard.data.named.download import download_files, published
from attriguard.data.named.registry import Dataset, get_dataset
from attriguard.errors import DataError, ParameterError

if TYPE_CHECKING:
    from attriguard.data.public_data import PublicData

DATA_VARIABLE = "ATTRIGUARD_DATA"
CACHE_VARIABLE = "ATTRIGUARD_CACHE"


def cache_folder() -> Path:
    """Where downloads are kept: ``$ATTRIGUARD_CACHE``, else the user's cache folder."""
    override = os.environ.get(CACHE_VARIABLE)
    if override:
        return Path(override).expanduser()
    import pooch

    return Path(pooch.os_cache("attriguard"))


def search_folders(name: str) -> list[Path]:
    """The folders where a data set's files are looked for, in this order."""
    shelf = os.environ.get(DATA_VARIABLE)
    shelves = [Path(shelf).expanduser()] if shelf else []
    return [folder / name for folder in (*shelves, cache_folder())]


def missing_files(dataset: Dataset, folder: Path) -> list[str]:
    """The names of the files that a folder lacks."""
    return [name for name in dataset.file_names if not (folder / name).is_file()]


def locate(name: str) -> Path | None:
    """The first folder that holds any of a data set's files; it may lack others."""
    dataset = get_dataset(name)
    found = (_holder(dataset, folder) for folder in search_folders(name))
    return next((folder for folder in found if folder is not None), None)


def _holder(dataset: Dataset, folder: Path) -> Path | None:
    """The folder if it holds any of the files, or the one inside it that an archive unpacks to."""
    inner = [folder / dataset.archive.folder] if dataset.archive else []
    for place in (folder, *inner):
        if len(missing_files(dataset, place)) < len(dataset.files):
            return place
    return None


def find_dataset(name: str, path: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder that holds a data set's files, or None where they are not on this machine.

    With ``path`` only that folder is looked at. A folder that holds some of the files only is an error.
    """
    dataset = get_dataset(name)
    if path is None:
        folder = locate(name)
    else:
        folder = Path(path).expanduser()
        if not folder.is_dir():
            raise DataError(
                f"{name}: path must be a folder with {', '.join(dataset.file_names)}, but {folder} is not a folder"
            )
        folder = _holder(dataset, folder) or folder
    if folder is not None:
        _refuse_missing(dataset, folder)
    return folder


def verify_dataset(name: str, path: str | os.PathLike[str] | None = None) -> dict[str, bool | None]:
    """For every file on this machine: is it the published one? None where no published hash is known."""
    dataset = get_dataset(name)
    folder = find_dataset(name, path)
    if folder is None and not dataset.embedded:
        raise DataError(_not_here(dataset))
    return {} if folder is None else published(dataset, folder)


def fetch_dataset(
    name: str,
    *,
    notify: Callable[[str], None] | None = None,
    progress: bool = False,
) -> Path:
    """Make sure that the published files are on this machine, and return their folder.

    A copy that is whole and as published stays; a damaged one in the cache is replaced. ``notify`` is called
    with the licence and the citation just before a download, and only then; ``progress`` draws a bar on
    standard error if that is a terminal.
    """
    dataset = get_dataset(name)
    if dataset.embedded:
        raise ParameterError(f"{name} is embedded: there is nothing to fetch")
    cache = cache_folder() / name
    folder = locate(name)
    if folder is not None and folder != cache:
        _refuse_missing(dataset, folder)
        _refuse_altered(dataset, folder)
        return folder
    whole = folder is not None and not missing_files(dataset, cache)
    if whole and False not in published(dataset, cache).values():
        return cache
    return download_files(dataset, cache, notify=notify, progress=progress)


def load_dataset(
    name: str = "twin",
    path: str | os.PathLike[str] | None = None,
    *,
    attribute: str | Sequence[str] | None = None,
    download: bool = True,
    verify: bool = True,
    notify: Callable[[str], None] | None = None,
    **options: Any,
) -> PublicData:
    """Load a named data set.

    Parameters
    ----------
    name
        "twin" (embedded, the default), "google-play", "movielens-100k" or "movielens-1m".
    path
        The folder of the files. Without it, they are looked for in ``$ATTRIGUARD_DATA/<name>``, then in the user's
        cache (``$ATTRIGUARD_CACHE`` moves it), and else they are downloaded into that cache.
    attribute
        The private attribute; several become one joint attribute.
    download
        Whether files that are not there may be downloaded.
    verify
        Whether files are refused that are not the published ones, by their sha256.
    notify
        Called with the licence before a download. By default the licence is shown if standard error is a terminal.
    **options
        For the twin: ``n_users``, ``n_items``, ``n_values``, ``seed``, and ``dates`` for a table with dates.
    """
    dataset = get_dataset(name)
    _check_options(dataset, options)
    attributes = _check_attributes(dataset, attribute)
    if dataset.embedded:
        if path is not None:
            raise ParameterError(f"{name} is embedded and takes no path; leave path out")
        return replace(dataset.load(**options), name=name)
    folder = find_dataset(name, path)
    if folder is None:
        if not download:
            raise DataError(_not_here(dataset))
        folder = fetch_dataset(name, notify=notify or _show_on_terminal, progress=True)
    elif verify:
        _refuse_altered(dataset, folder)
    return replace(dataset.load(folder, attributes), name=name)


def _refuse_missing(dataset: Dataset, folder: Path) -> None:
    missing = missing_files(dataset, folder)
    if missing:
        ours = folder == cache_folder() / dataset.name
        remedy = f", or run 'attriguard datasets fetch {dataset.name}'" if ours else ""
        raise DataError(
            f"{dataset.name} is made of {', '.join(dataset.file_names)}, but {folder} has no "
            f"{', '.join(missing)}; put it there{remedy}"
        )


def _refuse_altered(dataset: Dataset, folder: Path) -> None:
    altered = [name for name, same in published(dataset, folder).items() if same is False]
    if altered:
        ours = folder == cache_folder() / dataset.name
        remedy = f"run 'attriguard datasets fetch {dataset.name}'" if ours else "move it away, or name another folder"
        raise DataError(
            f"{dataset.name}: {', '.join(altered)} in {folder} is not the published file (by its sha256); {remedy}"
        )


def _show_on_terminal(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(text + "\n")


def _check_options(dataset: Dataset, options: Iterable[str]) -> None:
    unknown = [option for option in options if option not in dataset.options]
    if unknown:
        known = ", ".join(dataset.options) or "none"
        raise ParameterError(
            f"{dataset.name} does not take the option {', '.join(unknown)}; options of this data set: {known}"
        )


def _check_attributes(dataset: Dataset, attribute: str | Sequence[str] | None) -> tuple[str, ...]:
    if attribute is None:
        return (next(iter(dataset.attributes)),)
    chosen = (attribute,) if isinstance(attribute, str) else tuple(attribute)
    for name in chosen:
        check_choice(name, dataset.attributes, name=f"attribute of {dataset.name}")
    if not chosen or len(set(chosen)) != len(chosen):
        raise ParameterError(f"attribute must name one or more different attributes, got {attribute!r}")
    return chosen


def _not_here(dataset: Dataset) -> str:
    looked = " and ".join(str(folder) for folder in search_folders(dataset.name))
    return (
        f"{dataset.name} is not on this machine: looked in {looked}; fetch it with "
        f"'attriguard datasets fetch {dataset.name}', or put {', '.join(dataset.file_names)} there"
    )
