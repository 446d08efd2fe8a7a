"""Fetching a data set's files with pooch: size, time and hash are checked, and nothing half-written is left behind."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attriguard.data.named.registry import DataFile
from attriguard.errors import DataError, DownloadError

if TYPE_CHECKING:
    import requests
    from rich.progress import Progress, TaskID

    from attriguard.data.named.registry import Archive, Dataset

TIMEOUT_SECONDS = 30.0
# A file arrives within this time, and has no more bytes than the registry says or, where it says nothing, than this.
# What exceeds either is not kept, and never hashed.
MOST_SECONDS = 1800.0
MOST_BYTES = 100_000_000
CHUNK_BYTES = 1 << 16


def terms(dataset: Dataset) -> str:
    """What a person should know before a download: the origin, the licence, and what to cite."""
    return f"{dataset.title}, from {dataset.base_url}\nLicence: {dataset.licence}\nPlease cite: {dataset.citation}"


def published(dataset: Dataset, folder: Path) -> dict[str, bool | None]:
    """For every file in ``folder``: is it the published one? None where no published hash is known."""
    return {
        file.name: None if file.sha256 is None else _sha256(folder / file.name) == file.sha256 for file in dataset.files
    }


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error


def download_files(
    dataset: Dataset,
    folder: Path,
    *,
    notify: Callable[[str], None] | None = None,
    progress: bool = False,
) -> Path:
    """Fetch the files of a data set into ``folder``, which appears complete or not at all."""
    if notify is not None:
        notify(terms(dataset))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{dataset.name}-", dir=folder.parent) as scratch:
            _move_in(_fetch_files(dataset, Path(scratch), progress), folder)
    except OSError as error:  # the errors of requests are OSErrors too
        raise DownloadError(
            f"could not fetch {dataset.name}: {_reason(error, dataset.base_url)}; {_by_hand(dataset, folder)}"
        ) from error
    return folder


def _fetch_files(dataset: Dataset, scratch: Path, progress: bool) -> Path:
    """All files of the data set, checked, in a new folder within ``scratch``."""
    fresh = scratch / "files"
    fresh.mkdir()
    archive = dataset.archive
    with _progress(progress) as bars, _quiet_pooch():
        if archive is not None:
            _retrieve(dataset.base_url, DataFile(archive.name, archive.sha256), scratch, bars)
            _unpack(scratch / archive.name, archive, dataset.file_names, fresh)
        else:
            for file in dataset.files:
                _retrieve(dataset.base_url, file, scratch, bars)
                # A copy, since pooch's own file is readable by its owner only, and a cache may be shared.
                shutil.copyfile(scratch / file.name, fresh / file.name)
    return fresh


def _retrieve(base_url: str, wanted: DataFile, into: Path, bars: Progress) -> None:
    import pooch

    name, most = wanted.name, wanted.size or MOST_BYTES
    if wanted.sha256 is None:
        raise DownloadError(f"{name} has no known sha256, and nothing is downloaded unchecked")

    def stream(url: str, target: str, _: object) -> None:
        _stream(url, Path(target), most, bars, bars.add_task(name, total=None))

    try:
        pooch.retrieve(base_url + name, f"sha256:{wanted.sha256}", fname=name, path=into, downloader=stream)
    except OSError:  # some errors of requests are ValueErrors as well
        raise
    except ValueError as error:
        raise DownloadError(f"{base_url}{name} is not the published file: its sha256 differs") from error


def _stream(url: str, target: Path, most: int, bars: Progress, task: TaskID) -> None:
    """Download one file for pooch, whose own downloader leaves a connection open when something fails."""
    import requests

    end = time.monotonic() + MOST_SECONDS

    # Uncompressed, so that the length that the server announces is the length that arrives.
    headers = {"Accept-Encoding": "identity"}
    with (
        requests.get(url, stream=True, timeout=TIMEOUT_SECONDS, headers=headers) as response,
        target.open("wb") as file,
    ):
        response.raise_for_status()
        bars.update(task, total=int(response.headers.get("content-length", 0)) or None)
        for chunk in _arriving(response):
            if file.tell() + len(chunk) > most:
                raise DownloadError(f"{url} sends more than the {most:,} bytes that are expected")
            if time.monotonic() > end:
                raise DownloadError(f"{url} has not sent the whole file within {MOST_SECONDS:g} seconds")
            file.write(chunk)
            bars.advance(task, len(chunk))


def _arriving(response: requests.Response) -> Iterator[bytes]:
    """Bytes as they arrive: ``iter_content`` waits for a whole chunk, for days where a server sends a byte a time."""
    import requests
    import urllib3

    try:
        while chunk := response.raw.read1(CHUNK_BYTES):
            yield chunk
    except urllib3.exceptions.ReadTimeoutError as error:
        raise requests.ReadTimeout(error) from error
    except urllib3.exceptions.HTTPError as error:
        raise requests.exceptions.ChunkedEncodingError(error) from error


def _unpack(zip_file: Path, archive: Archive, names: tuple[str, ...], into: Path) -> None:
    """Copy the wanted members out under names of our own, so that nothing in the archive chooses a path."""
    try:
        with zipfile.ZipFile(zip_file) as bundle:
            present = set(bundle.namelist())
            for name in names:
                member = f"{archive.folder}/{name}"
                if member not in present:
                    raise DownloadError(f"{archive.name} holds no {member}")
                size = bundle.getinfo(member).file_size  # zipfile gives no more bytes than this
                if size > MOST_BYTES:
                    raise DownloadError(f"{member} of {archive.name} has {size:,} bytes, more than {MOST_BYTES:,}")
                with bundle.open(member) as source, (into / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
    except zipfile.BadZipFile as error:
        raise DownloadError(f"{archive.name} cannot be unpacked: {error}") from error


def _move_in(fresh: Path, folder: Path) -> None:
    try:
        fresh.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        # An incomplete or outdated folder, or another process was faster: replace file by file.
        for file in fresh.iterdir():
            os.replace(file, folder / file.name)


def _reason(error: OSError, base_url: str) -> str:
    import requests

    host = urlsplit(base_url).netloc
    match error:
        case DownloadError():
            return str(error)
        case requests.HTTPError(response=requests.Response() as response):
            return f"{response.url} answered {response.status_code} {response.reason}"
        case requests.Timeout():
            return f"{host} did not answer within {TIMEOUT_SECONDS:g} seconds"
        case requests.exceptions.ChunkedEncodingError():
            return f"the connection to {host} was cut before the file was complete"
        case requests.ConnectionError():
            return f"no connection to {host} (offline, or the server is down)"
        case requests.RequestException():
            return f"{host}: {type(error).__name__}"
        case _:
            return f"cannot write {error.filename or 'the files'}: {error.strerror or error}"


def _by_hand(dataset: Dataset, folder: Path) -> str:
    inside = f" (inside {dataset.archive.name})" if dataset.archive else ""
    return f"to do it by hand, put {', '.join(dataset.file_names)}{inside} from {dataset.base_url} into {folder}"


@contextmanager
def _quiet_pooch() -> Iterator[None]:
    """pooch reports every download on standard error; here the caller decides what is said."""
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        yield
    finally:
        logger.setLevel(level)


def _progress(wanted: bool) -> Progress:
    """Progress bars on standard error, drawn only if they are wanted and standard error is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=console, disable=not (wanted and console.is_terminal))
