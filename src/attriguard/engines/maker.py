"""What makes parts of a release out of buckets of users: the same in this process and in a worker."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from attriguard.data.tables.columns import Roles
from attriguard.data.tables.csv_text import CsvStyle
from attriguard.data.tables.table import write_table
from attriguard.engines.buckets import Buckets
from attriguard.engines.ledgers import memory_record, piece_of, pieces_of, remembering
from attriguard.engines.parts import Parts
from attriguard.engines.sources import Source
from attriguard.operations.protector import (
    Block,
    Prepared,
    Protector,
    column_warning,
    emptied_warning,
    missed_warning,
    seen_warning,
    unknown_warning,
)
from attriguard.operations.ready import protector_for
from attriguard.operations.wishes import Locked, Wishes
from attriguard.progress import Progress

COUNTS = ("rows", "users", "kept", "changed", "removed", "added", "seen", "emptied", "locked")


@dataclass(frozen=True, eq=False)
class Maker:
    """Makes one part after another; nothing in it changes."""

    parts: Parts
    buckets: Buckets
    protector: Protector

    @classmethod
    def of(cls, job: Mapping[str, Any]) -> Maker:
        """Out of a job as JSON holds it."""
        source = source_of(job["source"])
        parts = Parts(Path(job["folder"]), job["terms"], source.suffix)
        buckets = Buckets(source, Roles(*job["roles"]), parts.work / "buckets", parts.n)
        protector = protector_for(parts.work / "guard", wishes_of(job["wishes"]), dict(job["options"]))
        return cls(parts, buckets, remembering(buckets.settled(protector.for_blocks()), job["ledger"]))

    def make(self, k: int) -> dict[str, Any]:
        """Protect the users of a bucket, write them as a part, and say what it holds."""
        table = self.buckets.block(k)
        facts: dict[str, Any] = dict.fromkeys(COUNTS, 0) | {"unknown": [], "telltale": [], "ledger": None}
        if table is not None:
            block = self.protector.prepare(table)
            made = self.protector.release(block, self.protector.plan(block, Progress()), None)
            write_table(made.release.table, self.parts.path(k), made.release.csv)
            facts |= facts_of(self.protector, block, made)
            if made.told is not None:
                facts["ledger"] = piece_of([made.told], pieces_of(self.parts.work))
        self.parts.note(k, facts)
        return facts


def facts_of(protector: Protector, block: Prepared, made: Block) -> dict[str, Any]:
    """What is counted of a block; nothing about a single user."""
    return asdict(made.release.summary) | {
        "rows": made.release.table.num_rows,
        "users": block.data.n_users,
        "seen": protector.seen(block.data.users),
        "emptied": made.emptied,
        "locked": 0 if block.locked is None else int(block.locked.nnz),
        "unknown": [str(item) for item in block.unknown.tolist()],
        "telltale": list(made.release.telltale),
    }


def job_of(parts: Parts, buckets: Buckets, wishes: Wishes, options: Mapping[str, Any]) -> dict[str, Any]:
    """All that a worker needs, as JSON knows it. It holds the key: it goes through a pipe and into no file."""
    return {
        "ledger": memory_record(buckets.memory),
        "folder": str(parts.folder.absolute()),
        "terms": dict(parts.terms),
        "source": source_record(buckets.source),
        "roles": list(buckets.roles),
        "wishes": wishes_record(wishes) | {"key": (wishes.key or b"").hex()},
        "options": dict(options),
    }


def wishes_record(wishes: Wishes) -> dict[str, Any]:
    """The wishes but for the key and the ledger."""
    names = [each.name for each in fields(wishes) if each.name not in ("key", "locked", "additions", "ledger")]
    additions = wishes.additions
    if additions is not None:
        pairs = isinstance(additions, Mapping)
        additions = {"pairs": pairs, "items": list(map(list, additions.items())) if pairs else list(additions)}
    locked = {"items": list(wishes.locked.items), "pairs": list(map(list, wishes.locked.pairs))}
    kept = {name: getattr(wishes, name) for name in names}
    return kept | {"drop_columns": list(wishes.drop_columns), "additions": additions, "locked": locked}


def wishes_of(record: Mapping[str, Any]) -> Wishes:
    """Back from the record, which has the key again."""
    given, added, locked = dict(record), record["additions"], record["locked"]
    given["key"] = bytes.fromhex(given["key"])
    given["additions"] = None if added is None else dict(added["items"]) if added["pairs"] else added["items"]
    given["locked"] = Locked(tuple(locked["items"]), tuple((user, item) for user, item in locked["pairs"]))
    return Wishes(**given)


def source_record(source: Source) -> dict[str, Any]:
    """What a worker must know of the table: its columns, and how its text is written."""
    style = None if source.style is None else asdict(source.style) | {"quoted": sorted(source.style.quoted)}
    schema = base64.b64encode(source.schema.serialize().to_pybytes()).decode()
    files = [str(path) for path in source.files[:1]]
    return {"name": source.name, "kind": source.kind, "files": files, "schema": schema, "style": style}


def source_of(record: Mapping[str, Any]) -> Source:
    """Back from the record."""
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(record["schema"])))
    style = record["style"]
    if style is not None:
        style = replace(CsvStyle(**style), quoted=frozenset(style["quoted"]))
    files = tuple(Path(file) for file in record["files"])
    return Source(record["name"], record["kind"], files, schema, style=style)


def totals_of(every: Iterable[Mapping[str, Any]], asked_pairs: int) -> dict[str, Any]:
    """The counts of all parts together, and what the publisher must know."""
    found: dict[str, Any] = dict.fromkeys(COUNTS, 0)
    unknown, telltale = dict[str, None](), dict[str, None]()
    for facts in every:
        found |= {name: found[name] + facts[name] for name in COUNTS}
        unknown |= dict.fromkeys(facts["unknown"])
        telltale |= dict.fromkeys(facts["telltale"])
    warnings = [
        *seen_warning(found["seen"], found["users"]),
        *unknown_warning(sorted(unknown)),
        *missed_warning(asked_pairs - found.pop("locked"), asked_pairs),
        *column_warning(tuple(telltale)),
        *emptied_warning(found["emptied"], found["users"]),
    ]
    return found | {"unknown_items": len(unknown), "warnings": warnings}
