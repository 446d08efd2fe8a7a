"""The download path, against a server on this machine."""

from __future__ import annotations

import contextlib
import hashlib
import io
import socket
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pooch
import pytest

from attriguard.data.named.download import download_files, published, terms
from attriguard.data.named.registry import DATASETS, Archive, DataFile, Dataset
from attriguard.errors import DataError, DownloadError

FILES = {
    "train_user.txt": b"0:1.0 2:0.4\n1:0.2\n",
    "train_label.txt": b"0\n1\n",
    "test_user.txt": b"2:0.8\n",
    "test_label.txt": b"1\n",
}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class LocalServer:
    url: str
    content: dict[str, bytes] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)  # promise the whole file, send half of it and hang up
    endless: set[str] = field(default_factory=set)  # promise nothing, and send until the other side hangs up
    pause: float = 0.0  # seconds before each part of what is endless
    sent: int = 0  # bytes of what is endless
    asked: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalServer]:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.removeprefix("/")
            state.asked.append(name)
            if name not in state.content:
                self.send_error(404)
                return
            body = state.content[name]
            self.send_response(200)
            if name in state.endless:
                self.end_headers()
                with contextlib.suppress(OSError):
                    while not state.ended.wait(state.pause):
                        self.wfile.write(body)
                        state.sent += len(body)
                return
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if name in state.cut else body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = LocalServer(f"http://127.0.0.1:{http.server_port}/")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    state.ended.set()
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture
def plain(server: LocalServer) -> Dataset:
    """A data set of four files, as the authors publish theirs."""
    server.content |= FILES
    files = tuple(DataFile(name, sha256(content)) for name, content in FILES.items())
    return replace(DATASETS["google-play"], base_url=server.url, files=files)


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in members.items():
            bundle.writestr(name, content)
    return buffer.getvalue()


def serve_zip(server: LocalServer, content: bytes) -> Dataset:
    """A data set in a zip, as GroupLens publishes theirs."""
    server.content["ml-100k.zip"] = content
    archive = Archive("ml-100k.zip", sha256(content), "ml-100k")
    return replace(DATASETS["movielens-100k"], base_url=server.url, archive=archive)


def refused(dataset: Dataset, folder: Path) -> str:
    """The one line of the error; nothing may be left where the files should have gone."""
    with pytest.raises(DownloadError) as caught:
        download_files(dataset, folder)
    assert not list(folder.parent.iterdir())
    line = str(caught.value)
    assert "\n" not in line
    assert str(folder) in line
    assert all(name in line for name in dataset.file_names)
    return line


def test_every_file_arrives(plain: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "cache" / "google-play"
    assert download_files(plain, folder) == folder
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == FILES
    assert [entry.name for entry in folder.parent.iterdir()] == ["google-play"]


def test_a_zip_gives_the_wanted_members_and_no_others(server: LocalServer, tmp_path: Path) -> None:
    wanted = {f"ml-100k/{name}": name.encode() for name in DATASETS["movielens-100k"].file_names}
    stray = {
        "../escaped.txt": b"x",
        "/absolute.txt": b"x",
        "ml-100k/../../up.txt": b"x",
        "ml-100k/README": b"x",
    }
    dataset = serve_zip(server, zipped(stray | wanted))
    folder = tmp_path / "cache" / "movielens-100k"
    download_files(dataset, folder)
    assert {file.name: file.read_text() for file in folder.iterdir()} == {n: n for n in dataset.file_names}
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == sorted(dataset.file_names)


def test_the_terms_come_before_the_first_request(
    plain: Dataset, server: LocalServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    seen: list[tuple[str, int]] = []
    download_files(plain, tmp_path / "x", notify=lambda text: seen.append((text, len(server.asked))))
    assert seen == [(terms(plain), 0)]
    assert plain.licence in seen[0][0]
    assert plain.citation in seen[0][0]
    assert len(server.asked) == 4
    assert capfd.readouterr() == ("", "")


def test_nothing_is_printed_where_nobody_looks(
    plain: Dataset, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    level = pooch.get_logger().level
    download_files(plain, tmp_path / "x", progress=True)
    assert capfd.readouterr() == ("", "")
    assert pooch.get_logger().level == level


def test_a_refusal_in_notify_stops_before_the_first_request(
    plain: Dataset, server: LocalServer, tmp_path: Path
) -> None:
    def refuse(text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download_files(plain, tmp_path / "x", notify=refuse)
    assert not server.asked
    assert not list(tmp_path.iterdir())


def test_an_interrupted_download_leaves_nothing(
    plain: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(response: object) -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    monkeypatch.setattr("attriguard.data.named.download._arriving", interrupt)
    with pytest.raises(KeyboardInterrupt):
        download_files(plain, tmp_path / "x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["train_user.txt", "test_label.txt"])
def test_wrong_hash(name: str, plain: Dataset, server: LocalServer, tmp_path: Path) -> None:
    server.content[name] = FILES[name][:-2] + b"9\n"
    line = refused(plain, tmp_path / "google-play")
    assert f"{name} is not the published file" in line


def test_wrong_hash_of_a_zip(server: LocalServer, tmp_path: Path) -> None:
    dataset = serve_zip(server, zipped({"ml-100k/u.data": b"1\t1\t5\t0\n"}))
    server.content["ml-100k.zip"] += b"\0"
    line = refused(dataset, tmp_path / "movielens-100k")
    assert "ml-100k.zip is not the published file" in line
    assert "(inside ml-100k.zip)" in line


@pytest.mark.parametrize("name", ["train_user.txt", "test_user.txt"])
def test_cut_connection(name: str, plain: Dataset, server: LocalServer, tmp_path: Path) -> None:
    server.cut.add(name)
    assert "was cut before the file was complete" in refused(plain, tmp_path / "google-play")


@pytest.mark.parametrize("known", [True, False])
def test_an_endless_download_ends(
    known: bool, plain: Dataset, server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attriguard.data.named.download.MOST_BYTES", 1_000_000)
    if known:
        plain = replace(plain, files=tuple(replace(file, size=len(FILES[file.name])) for file in plain.files))
    server.content["train_user.txt"] = bytes(50_000)
    server.endless.add("train_user.txt")
    expected = len(FILES["train_user.txt"]) if known else 1_000_000
    line = refused(plain, tmp_path / "google-play")
    assert f"train_user.txt sends more than the {expected:,} bytes that are expected" in line
    assert server.sent < 30_000_000  # the buffers of both sides


def test_a_server_that_drips(
    plain: Dataset, server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attriguard.data.named.download.MOST_SECONDS", 0.3)
    server.content["train_user.txt"] = b"0"  # a byte at a time: a whole chunk would take half an hour
    server.endless.add("train_user.txt")
    server.pause = 0.03
    assert "has not sent the whole file within 0.3 seconds" in refused(plain, tmp_path / "google-play")


def test_a_zip_that_unpacks_to_too_much(server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attriguard.data.named.download.MOST_BYTES", 10_000)
    dataset = serve_zip(server, zipped({f"ml-100k/{n}": bytes(10_001) for n in DATASETS["movielens-100k"].file_names}))
    assert "ml-100k/u.data of ml-100k.zip has 10,001 bytes, more than 10,000" in refused(dataset, tmp_path / "x")


def test_no_such_file_on_the_server(plain: Dataset, server: LocalServer, tmp_path: Path) -> None:
    del server.content["test_user.txt"]
    assert f"{server.url}test_user.txt answered 404" in refused(plain, tmp_path / "google-play")


def test_no_server(plain: Dataset, tmp_path: Path) -> None:
    # Port 1 is reserved and nothing listens there.
    line = refused(replace(plain, base_url="http://127.0.0.1:1/"), tmp_path / "google-play")
    assert "no connection to 127.0.0.1:1 (offline" in line


def test_a_server_that_says_nothing(plain: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attriguard.data.named.download.TIMEOUT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        assert "did not answer within 0.2 seconds" in refused(replace(plain, base_url=url), tmp_path / "x")


def test_an_address_that_is_none(plain: Dataset, tmp_path: Path) -> None:
    refused(replace(plain, base_url="http://"), tmp_path / "x")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"this is no zip", "ml-100k.zip cannot be unpacked"),
        (zipped({"ml-100k/u.data": b"1\t1\t5\t0\n"}), "ml-100k.zip holds no ml-100k/u.user"),
    ],
)
def test_a_zip_that_is_not_one(content: bytes, said: str, server: LocalServer, tmp_path: Path) -> None:
    assert said in refused(serve_zip(server, content), tmp_path / "movielens-100k")


def test_no_unchecked_downloads(plain: Dataset, server: LocalServer, tmp_path: Path) -> None:
    line = refused(replace(plain, files=(DataFile("train_user.txt"),)), tmp_path / "x")
    assert "nothing is downloaded unchecked" in line
    assert not server.asked


def test_a_folder_that_cannot_be_made(plain: Dataset, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DownloadError, match=r"cannot write .*file.*: "):
        download_files(plain, tmp_path / "file" / "google-play")


def test_an_incomplete_folder_is_made_whole_and_keeps_other_files(plain: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "google-play"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    (folder / "test_user.txt").write_text("damaged")
    download_files(plain, folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == FILES | {"notes.txt": b"mine"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["google-play"]


def test_published_tells_the_altered_from_the_unknown(plain: Dataset, tmp_path: Path) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "test_user.txt").write_text("altered")
    files = (*plain.files[:3], DataFile("test_label.txt"))
    assert published(replace(plain, files=files), tmp_path) == {
        "train_user.txt": True,
        "train_label.txt": True,
        "test_user.txt": False,
        "test_label.txt": None,
    }
    (tmp_path / "train_user.txt").unlink()
    with pytest.raises(DataError, match=r"train_user\.txt cannot be read"):
        published(plain, tmp_path)


def test_the_bar_is_drawn_on_a_terminal_only(
    plain: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    monkeypatch.setenv("TERM", "xterm")
    download_files(plain, tmp_path / "x", progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert all(name in err for name in plain.file_names)
    assert f"{len(FILES['train_user.txt'])}/{len(FILES['train_user.txt'])} bytes" in err
    download_files(plain, tmp_path / "y", progress=False)
    assert capfd.readouterr() == ("", "")
