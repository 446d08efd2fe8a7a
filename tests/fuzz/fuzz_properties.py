"""What must hold for every seed: one function a kind of input. Each raises AssertionError where it does not hold."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import shutil
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from fuzz_damage import damage
from fuzz_tables import DIGIT_MARK, TEXT_MARK, Case, Draft, good_tables, make_case, pick, render
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.classifiers.checkpoint import State, write_checkpoint
from attriguard.classifiers.network import NetworkClassifier
from attriguard.classifiers.training import first_state
from attriguard.errors import AttriGuardError
from attriguard.evaluation.cache import Cache

LONGEST_LINE = 3_000
KEY = bytes(range(32))


@contextlib.contextmanager
def empty_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_line(line: str, folder: Path) -> None:
    """An error is one line that a terminal can show, and holds no private value."""
    bare = line.replace(str(folder), "")
    assert bare.strip(), "an empty message"
    assert bare.isprintable(), f"not one printable line: {bare[:200]!r}"
    assert len(bare) <= LONGEST_LINE, f"{len(bare):,} characters: {bare[:200]!r}"
    assert TEXT_MARK not in bare, "a private value is quoted"
    assert DIGIT_MARK not in bare, "a private number is quoted"


def check_error(error: BaseException, folder: Path) -> None:
    """The error, and what Python shows with it: the causes that are not suppressed."""
    assert isinstance(error, AttriGuardError), "".join(traceback.format_exception(error))[-900:]
    check_line(str(error), folder)
    told = "".join(traceback.format_exception_only(error))
    cause: BaseException | None = error
    while cause is not None:
        told += str(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    told = told.replace(str(folder), "")
    assert TEXT_MARK not in told, f"the cause quotes a private value: {type(error.__cause__).__name__}"
    assert DIGIT_MARK not in told, f"the cause quotes a private number: {type(error.__cause__).__name__}"


# --- tables ---


def inputs(chance: np.random.Generator) -> str:
    """Any two tables give a result or an `AttriGuardError`, and no half-written file."""
    with empty_folder() as folder:
        case = make_case(chance, folder)
        here = {path.name for path in folder.iterdir()}
        way = int(chance.integers(100))
        call = (
            _audit if way < 1 else _protect if way < 12 else _command if way < 16 else _guarded if way < 20 else _read
        )
        out = folder / f"out{pick(chance, ('.csv', '.csv.gz', '.tsv', '.parquet', '.CSV'))}"
        if chance.integers(3) == 0:
            out.write_bytes(b"old")
        try:
            done = call(case, out, folder)
        except BaseException as error:
            try:
                check_error(error, folder)
            except AssertionError as failed:
                raise AssertionError(f"{failed} [{call.__name__}; {'; '.join(case.troubles)}]") from error
            done = False
        left = {path.name for path in folder.iterdir()} - here
        assert left <= {out.name}, f"left behind: {left}"
        if not done and out.exists():
            assert out.read_bytes() == b"old", "an error left a new file"
        return "read" if done else "refused"


def _reading(case: Case) -> dict[str, Any]:
    return case.options | {"attributes": case.attributes}


def _read(case: Case, out: Path, folder: Path) -> bool:
    data = ag.read_ratings(case.ratings, **_reading(case))
    assert data.X.shape == (data.users.size, data.items.size)
    assert ((data.X.data > 0) & (data.X.data <= 1)).all(), "entries beyond (0, 1]"
    assert data.y.min() >= -1
    assert data.y.max() < len(data.values)
    ag.write_release(data, data.X, out)
    return True


def _protect(case: Case, out: Path, folder: Path) -> bool:
    released = ag.protect(case.ratings, check=False, budget=1.0, key=KEY, **_reading(case))
    for warning in released.warnings:
        check_line(warning, folder)
    released.save(out)
    return True


@cache
def _learnt() -> ag.AttriGuard:
    data = ag.load_dataset("twin", n_users=60, n_items=20, n_values=3, seed=1)
    items = [str(k) for k in range(10)] + [f"item {k}" for k in range(10)]
    return ag.AttriGuard(scale=(1, 5, 1)).fit(data.X, data.y, items=items, values=data.values)


def _guarded(case: Case, out: Path, folder: Path) -> bool:
    reading = {name: value for name, value in _reading(case).items() if name not in ("scale", "like")}
    released = ag.protect(case.ratings, _learnt(), check=False, random_state=0, **reading)
    released.save(out)
    return True


def _audit(case: Case, out: Path, folder: Path) -> bool:
    result = ag.audit(case.ratings, attacks=["LR-A"], budgets=[1], retrained=None, random_state=0, **_reading(case))
    assert result.headline
    return False  # writes no table


def _command(case: Case, out: Path, folder: Path) -> bool:
    """The command line in this process: exit code 0 with a file, or 2 or 3 with one line and no file."""
    from attriguard.cli import app
    from attriguard.cli._shell import run

    if not isinstance(case.ratings, Path) or not isinstance(case.attributes, Path):
        return _read(case, out, folder)
    out.unlink(missing_ok=True)
    typed = ["protect", case.ratings, "--attributes", case.attributes, "--output", out, "--no-check", "--quiet"]
    for name in (
        (case.options["attribute"],) if isinstance(case.options["attribute"], str) else case.options["attribute"]
    ):
        typed += ["--attribute", name]
    for name in ("duplicates", "unmatched", "rare", "rating", "item"):
        typed += [f"--{name}", case.options[name]] if name in case.options else []
    typed += ["--min-users", case.options["min_users"], "--seed", 0]
    told, result = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(result):
        code = run(app, [str(word) for word in typed])
    for line in told.getvalue().splitlines():
        check_line(line, folder)
    errors = [line for line in told.getvalue().splitlines() if line.startswith("attriguard: error: ")]
    assert len(errors) == (code != 0), f"exit code {code} with {len(errors)} errors"
    assert code in (0, 2, 3), f"exit code {code}"
    assert out.exists() == (code == 0), f"exit code {code}, file {out.exists()}"
    return code == 0


def round_trips(chance: np.random.Generator) -> str:
    """A release without changes is the file that came, byte by byte; what was released is what is read again."""
    ratings, _ = good_tables(chance)
    ratings.delimiter = pick(chance, (",", ";", "\t", "|"))
    ratings.newlines = (pick(chance, ("\n", "\r\n")),)
    ratings.quoting = int(chance.integers(2))
    ratings.bom, ratings.final_newline = bool(chance.integers(2)), bool(chance.integers(2))
    _decorate(ratings, chance)
    with empty_folder() as folder:
        content = render(ratings, chance)
        source, same = folder / "in.txt", folder / "same.txt"
        source.write_bytes(content)
        data = ag.read_ratings(source)
        ag.write_release(data, data.X, same)
        assert same.read_bytes() == content, "a release without changes differs from its source"
        out = folder / f"out{pick(chance, ('.txt', '.csv', '.tsv', '.csv.gz', '.parquet'))}"
        levels = chance.integers(1, data.scale.levels + 1, data.X.nnz) / data.scale.levels
        kept = chance.random(data.X.nnz) < 0.8
        kept[:1] = True
        changed = data.X.copy()
        changed.data = np.where(kept, levels, 0).astype(np.float32)
        changed.eliminate_zeros()
        ag.write_release(data, changed, out)
        back = ag.read_ratings(out, scale=None if data.scale.is_likes else data.scale)
        assert _ratings(back, back.X) == _ratings(data, changed), "what is read is not what was written"
    return "same"


def _decorate(draft: Draft, chance: np.random.Generator) -> None:
    """Names that a CSV file must quote, or write as they are."""
    odd = ("é", "a b", "🦊", "it's", "=1", "-", "a;b", "a,b", "a|b", "0x1", "1e3x", "\u00a0x", "x\\")
    items = {row[1] for row in draft.rows}
    names = {item: f"{item}{pick(chance, odd)}" for item in sorted(items)} if chance.integers(2) else {}
    for row in draft.rows:
        row[1] = names.get(row[1], row[1])


def _ratings(data: ag.PublicData, X: csr_array) -> dict[tuple[str, str], float]:
    entries = X.tocoo()
    return {
        (str(data.users[u]), str(data.items[i])): float(value)
        for u, i, value in zip(*entries.coords, entries.data, strict=True)
    }


# --- files that the package has written ---


@cache
def _twin() -> ag.PublicData:
    return ag.load_dataset("twin", n_users=80, n_items=20, n_values=3, seed=5)


GUARDS: tuple[dict[str, Any], ...] = (
    {},
    {"goal": "conceal"},
    {"policy": "add_new", "search": "panda", "target": [0.2, 0.3, 0.5], "budget": 2.5, "locked": [3]},
    {"additions": {1: 2, 2: 3, 9: 5}, "scale": (1, 5, 1)},
    {"classifier": NetworkClassifier(hidden=8, epochs=1, random_state=0)},
)


@cache
def _guard(which: int) -> tuple[bytes, tuple[Any, ...]]:
    """The file of a guard, and what that guard does."""
    data = _twin()
    guard = ag.AttriGuard(**{"random_state": 0, **GUARDS[which]}).fit(
        data.X[:60], data.y[:60], items=data.items, values=data.values
    )
    with empty_folder() as folder:
        guard.save(folder / "g", metadata={"attribute": "city"})
        content = (folder / "g").read_bytes()
        return content, _behaviour(ag.load_guard(folder / "g"))


def _behaviour(guard: ag.AttriGuard) -> tuple[Any, ...]:
    plan = guard.plan(_twin().X[60:])
    edits = plan.edits
    arrays = (edits.items, edits.values, plan.probabilities, guard.items_, guard.counts_, guard.classes_)
    return (*(np.asarray(array).tobytes() for array in arrays), guard.values_, repr(guard.metadata_), repr(guard.scale))


def guard_files(chance: np.random.Generator) -> str:
    """A damaged guard is refused, or does what the whole one does."""
    content, expected = _guard(int(chance.integers(len(GUARDS))))
    with empty_folder() as folder:
        (folder / "g").write_bytes(damage(content, chance))
        try:
            with warnings.catch_warnings(action="ignore"):
                found = _behaviour(ag.load_guard(folder / "g"))
        except AttriGuardError as error:
            check_line(str(error), folder)
            return "refused"
    assert found == expected, "a damaged guard does something else"
    return "same"


def _network(validation: float) -> NetworkClassifier:
    return NetworkClassifier(hidden=6, epochs=3, validation=validation, random_state=0)


def _trained(validation: float, file: Path, **options: Any) -> bytes:
    data = _twin()
    network = _network(validation).fit(data.X, data.y, checkpoint=file, **options)
    return b"".join(part.tobytes() for part in network.weights.parts.values()) + repr(network.history_).encode()


@cache
def _checkpoint(validation: float) -> tuple[bytes, bytes]:
    """The checkpoint of a training that was interrupted, and what the training comes to."""

    def interrupt(what: str, share: float) -> None:
        if share > 0.8:  # in the third epoch of three
            raise KeyboardInterrupt

    with empty_folder() as folder:
        with contextlib.suppress(KeyboardInterrupt):
            _trained(validation, folder / "c", progress=interrupt)
        content = (folder / "c").read_bytes()
        return content, _trained(validation, folder / "c")


def checkpoints(chance: np.random.Generator) -> str:
    """A damaged checkpoint is refused, or training goes on from where it stood."""
    validation = pick(chance, (0.0, 0.3))
    content, expected = _checkpoint(validation)
    with empty_folder() as folder:
        (folder / "c").write_bytes(damage(content, chance))
        try:
            with warnings.catch_warnings(action="ignore"):  # weights that nobody checked may be infinite
                found = _trained(validation, folder / "c")
        except AttriGuardError as error:
            check_line(str(error), folder)
            return "refused"
    assert found == expected, "a damaged checkpoint goes on from somewhere else"
    return "same"


ARRAYS = {"predicted": np.arange(40, dtype=np.int64), "scores": np.linspace(0, 1, 60).reshape(20, 3)}


@cache
def _cached() -> tuple[str, bytes]:
    """The name and the content of a file in the cache."""
    with empty_folder() as folder:
        Cache(folder).save("k", ARRAYS)
        (path,) = (folder / "predictions").iterdir()
        return path.name, path.read_bytes()


def caches(chance: np.random.Generator) -> str:
    """A damaged file of the cache counts as missing, or holds what was kept."""
    name, content = _cached()
    with empty_folder() as folder:
        kept = Cache(folder)
        (folder / "predictions" / name).write_bytes(damage(content, chance))
        fits = [lambda arrays: True] * (len(inspect.signature(kept.load).parameters) - 1)
        found = kept.load("k", *fits)
    if found is None:
        return "refused"
    same = found.keys() == ARRAYS.keys() and all(
        found[name].dtype == array.dtype and np.array_equal(found[name], array) for name, array in ARRAYS.items()
    )
    assert same, "a damaged file of the cache gives other numbers"
    return "same"


# --- kills ---


def _write_guard(path: Path, version: int) -> None:
    _loaded_guard(version).save(path)


@cache
def _loaded_guard(version: int) -> ag.AttriGuard:
    with empty_folder() as folder:
        (folder / "g").write_bytes(_guard(version)[0])
        return ag.load_guard(folder / "g")


def _write_checkpoint(path: Path, version: int) -> None:
    first = first_state(_network(0.0), 12, 3)
    history = [(1.5, None), (1.2, None)][: version + 1]
    write_checkpoint(path, "a mark", State(first.weights, first.weights, first.chance, first.seed, history))


def _write_table(path: Path, version: int) -> None:
    data = _twin()
    X = data.X if version == 0 else csr_array((np.ones_like(data.X.data), data.X.indices, data.X.indptr), data.X.shape)
    ag.write_release(data, X, path)


def _write_cache(path: Path, version: int) -> None:
    Cache(path.parent.parent).save(path.stem, {"a": np.full(2_000, version)})


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "x.guard": _write_guard,
    "x.training": _write_checkpoint,
    "x.csv": _write_table,
    "x.csv.gz": _write_table,
    "x.parquet": _write_table,
    "predictions/k.safetensors": _write_cache,
}


def _die_at(step: int) -> None:
    """From now on, this process dies just before a new file takes its name, or at an earlier step on the disk."""
    import sys

    from attriguard.data import files

    steps = 0

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal steps
        if event == "os.rename" and step == 0:
            die()
        if event in ("open", "os.rename", "os.remove", "os.chmod", "os.mkdir", "os.truncate"):
            steps += 1
            if steps == step:
                die()

    if step == 0 and hasattr(files, "before_rename"):
        files.before_rename = die
    else:
        sys.addaudithook(watch)


def _content(path: Path) -> bytes:
    return pq.read_table(path).to_pydict().__repr__().encode() if path.suffix == ".parquet" else path.read_bytes()


def kills(chance: np.random.Generator) -> str:
    """A process that is killed while it writes leaves the old file or the new one, whole."""
    name = pick(chance, sorted(WRITERS))
    step = int(chance.integers(1, 12)) if chance.integers(2) else 0
    write = WRITERS[name]
    with empty_folder() as folder:
        versions = []
        for version in (0, 1):
            path = folder / str(version) / name
            path.parent.mkdir(parents=True)
            (path.parent.parent / "predictions").mkdir(exist_ok=True)
            write(path, version)
            versions.append(_content(path))
        assert versions[0] != versions[1]
        killed = _killed(lambda: write(folder / "0" / name, 1), step)
        found = _content(folder / "0" / name)
    assert found in versions, f"{name} is neither the old file nor the new one after a kill at step {step}"
    if step == 0:
        assert killed, f"{name} took its name without a rename that could be seen"
        assert found == versions[0], "the new file had its name before it was whole"
    return "killed" if killed else "written"


def _killed(write: Callable[[], None], step: int) -> bool:
    """Write in a process of its own; was it killed?"""
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            _die_at(step)
            write()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert not os.WIFSIGNALED(status) or os.WTERMSIG(status) == signal.SIGKILL, f"the writer ended with {status}"
    return os.WIFSIGNALED(status)


KINDS: dict[str, Callable[[np.random.Generator], str]] = {
    "inputs": inputs,
    "round-trips": round_trips,
    "guard-files": guard_files,
    "checkpoints": checkpoints,
    "caches": caches,
    "kills": kills,
}


def check(kind: str, seed: int) -> str:
    """Run one seed of one kind; what came of it in a word."""
    return KINDS[kind](np.random.default_rng([sorted(KINDS).index(kind), seed]))
