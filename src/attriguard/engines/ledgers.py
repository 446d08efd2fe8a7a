"""The ledger of a release in parts: it is bucketed as the table is, and a part reads and writes its own users alone.

With a ledger, the bucket of a user is a range of the hashes by which the ledger knows users, so that the entries of a
bucket lie together in the ledger's files. A part writes what it tells into files of its own, beside its record; when
all parts are there, these files are copied into the ledger, and count from the moment the release's manifest does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from attriguard.data.files import make_private_folder, written_beside
from attriguard.errors import DataError
from attriguard.ledger.files import adopt
from attriguard.ledger.hashes import secret_text
from attriguard.ledger.store import Ledger
from attriguard.operations.memory import Entry, Memory, Told
from attriguard.operations.protector import Protector

Facts = dict[str, Any]
# What parts write for the ledger, in the folder of the run's work.
PIECES = "ledger"


def pieces_of(work: Path) -> Path:
    """The private folder for what parts tell the ledger."""
    return make_private_folder(work / PIECES)


def bucket_in_sql(memory: Memory, user: str, n: int) -> str:
    """The bucket of a user in DuckDB's SQL; ``user`` is the id as text. See `ledger.hashes.bucket_of`."""
    hashed = f"md5_number_lower('{secret_text(memory.ledger.key)}' || {user})"
    return f"coalesce(((({hashed}) >> 32) * {n}) >> 32, 0)"  # a missing id is told later, by the part that has it


def memory_record(memory: Memory | None) -> dict[str, Any] | None:
    """What workers must know to find the ledger as it stands, as JSON knows it; they have the key."""
    if memory is None:
        return None
    ledger = memory.ledger
    return {"folder": str(ledger.folder.absolute()), "stamp": ledger.stamp, "budget_ever": memory.budget_ever}


def remembering(protector: Protector, record: Mapping[str, Any] | None) -> Protector:
    """A worker's protector with the ledger that the driver has opened."""
    if record is None or protector.wishes.key is None:
        return protector
    ledger = Ledger.joined(Path(record["folder"]), protector.wishes.key, protector.attribute, record["stamp"])
    return replace(protector, memory=Memory(ledger, protector.attribute, record["budget_ever"]))


def forgetting(protector: Protector) -> Protector:
    """The same without the ledger: to look at some rows of a table, nobody's past is needed."""
    return replace(protector, memory=None)


def check_ledger(protector: Protector, scale: tuple[float, float, float]) -> None:
    """Before the long work: the ledger is of this scale."""
    if protector.memory is not None:
        protector.memory.ledger.check_scale(scale)


def piece_of(told: Sequence[Told], folder: Path) -> Facts:
    """Write what the blocks of a part tell, and say what there is to enter."""
    if not told:
        return {"counts": {}, "scale": None, "budget": 0.0, "files": []}
    whole = told[0] if len(told) == 1 else Told.joined(told)
    return {"counts": whole.counts, "scale": whole.scale, "budget": whole.budget, "files": whole.files(folder)}


def entry_of(protector: Protector, pieces: Iterable[Facts | None], folder: Path) -> Entry | None:
    """What finishing the release enters into the ledger; None without one, and where nobody was released."""
    found = [piece for piece in pieces if piece is not None and piece["scale"] is not None]
    if protector.memory is None or not found:
        return None
    counts = Counter[str]()
    for piece in found:
        counts.update(piece["counts"])
    about = protector.about(sum(piece["budget"] for piece in found) / max(1, counts["planned"]))
    low, high, step = found[0]["scale"]
    files = [file for piece in found for file in piece["files"]]
    named = {name: counts[name] for name in found[0]["counts"]}
    return Entry(protector.memory, (low, high, step), named, about, lambda into: adopt(into, folder, files))


def note_piece(piece: Facts, folder: Path, k: int) -> None:
    """A record of the piece of a partition: whoever makes the partition again writes the same."""
    with written_beside(folder / f"piece-{k:05d}.json", private=True) as file:
        file.write(json.dumps(piece).encode())


def noted_pieces(folder: Path, n: int) -> list[Facts]:
    """The pieces of all partitions; a release of which some were never made is refused."""
    records = [folder / f"piece-{k:05d}.json" for k in range(n)]
    missing = sum(not path.exists() for path in records)
    if missing:
        raise DataError(
            f"{missing:,} of {n:,} partitions of this release have not been made, or the ledger's folder is not shared "
            "by all machines; write all rows of the DataFrame before it is entered"
        )
    return [json.loads(path.read_text(encoding="utf-8")) for path in records]
