"""The folder of a release in parts: what it is a release of, which parts are done, and the marker at the end.

released/_manifest.json           the terms of the run; at the end also every part's rows and SHA-256
released/part-00007.parquet       written beside, synced and renamed
released/_SUCCESS                 the last file: nothing is missing
released/.attriguard-work/        buckets of users and records of parts, private; gone at the end
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attriguard.data.files import make_private_folder, written_beside
from attriguard.errors import DataError

# Readers of a folder of Parquet files leave out names that begin with _ or a dot.
MANIFEST, MARKER, WORK = "_manifest.json", "_SUCCESS", ".attriguard-work"
# What the terms are called in an error line.
TERMS = {"version": "version", "guard_sha256": "guard", "key": "key", "input": "input", "options": "options"}
# The state of the ledger that a release was planned on; when the release is whole, the ledger has it, too.
LEDGER = {"ledger": "ledger, or one that has changed since"}
# Writes and enters a release: called with what writes the manifest, and with its path.
Enter = Callable[[Callable[[Callable[[Path], None] | None], None], Path], None]


@dataclass(frozen=True)
class Parts:
    """The folder of one run; ``terms`` say what it is a release of."""

    folder: Path
    terms: Mapping[str, Any]
    suffix: str

    @classmethod
    def found(cls, folder: Path, terms: Mapping[str, Any], suffix: str) -> Parts | None:
        """The run that stopped in this folder, if any; the folder of another one, or of other things, is refused."""
        before = _read(folder / MANIFEST)
        if before is not None:
            _refuse_other(folder, before, terms)
            return cls(folder, before, suffix)
        strange = sorted(path.name for path in folder.iterdir() if not path.name.startswith(".attriguard"))
        if strange:
            raise DataError(f"{folder} is not empty ({strange[0]}) and holds no release; name a new folder")
        return None

    @classmethod
    def begun(cls, folder: Path, terms: Mapping[str, Any], suffix: str, n: int) -> Parts:
        """A new run of ``n`` parts."""
        _write(folder / MANIFEST, {**terms, "parts": n})
        return cls(folder, {**terms, "parts": n}, suffix)

    @property
    def n(self) -> int:
        """How many parts there are, of which some may be empty."""
        return int(self.terms["parts"])

    @property
    def finished(self) -> bool:
        """Whether nothing is missing; a kill may have left the manifest without the marker."""
        return (self.folder / MARKER).exists() or "totals" in self.terms

    @property
    def work(self) -> Path:
        """The private folder of what the work needs until the end."""
        return make_private_folder(self.folder / WORK)

    def path(self, k: int) -> Path:
        """The file of a part."""
        return self.folder / f"part-{k:05d}{self.suffix}"

    def note(self, k: int, facts: Mapping[str, Any]) -> None:
        """A part is written: remember what it holds."""
        sha256 = sha256_of(self.path(k)) if self.path(k).exists() else ""
        _write(self._record(k), {**facts, "sha256": sha256})

    def facts(self, k: int) -> dict[str, Any] | None:
        """What a part holds, if it is done and as it was written."""
        found = _read(self._record(k))
        if found is None or (found["sha256"] and not self.path(k).exists()):
            return None
        return found if not found["sha256"] or sha256_of(self.path(k)) == found["sha256"] else None

    def finish(self, totals: Mapping[str, Any], enter: Enter | None = None) -> None:
        """Everything is there: say so, and remove what was needed on the way; ``enter`` is the ledger's."""
        known = {self.path(k).name: self.facts(k) for k in range(self.n)}
        files = [
            {"file": name, "rows": facts["rows"], "sha256": facts["sha256"]}
            for name, facts in known.items()
            if facts is not None and facts["sha256"]
        ]
        manifest = {**self.terms, "files": files, "totals": totals}
        if enter is None:
            _write(self.folder / MANIFEST, manifest)
        else:
            enter(lambda whole: _write(self.folder / MANIFEST, manifest, whole), self.folder / MANIFEST)
        self.close()

    def close(self) -> None:
        """Nothing is missing: the marker, and what was needed on the way goes."""
        with written_beside(self.folder / MARKER):
            pass
        for left in self.folder.glob(".attriguard-*"):  # also what runs that were killed left
            shutil.rmtree(left, ignore_errors=True)

    def abandon(self) -> None:
        """As if it had not begun."""
        (self.folder / MANIFEST).unlink(missing_ok=True)
        for k in range(self.n):
            self.path(k).unlink(missing_ok=True)
        shutil.rmtree(self.folder / WORK, ignore_errors=True)

    @property
    def totals(self) -> dict[str, Any]:
        """What the finished run found."""
        return dict((_read(self.folder / MANIFEST) or {}).get("totals", {}))

    def _record(self, k: int) -> Path:
        return self.work / f"part-{k:05d}.json"


def seal(folder: Path, manifest: Mapping[str, Any]) -> None:
    """The manifest, and behind it the marker: nothing is missing."""
    _write(folder / MANIFEST, manifest)
    with written_beside(folder / MARKER):
        pass


def _refuse_other(folder: Path, found: Mapping[str, Any], terms: Mapping[str, Any]) -> None:
    """Another guard, option, key or input: the parts that are there would not fit the others."""
    named = TERMS if "totals" in found else TERMS | LEDGER
    differ = [_difference(name, found.get(name), terms[name]) for name in named if found.get(name) != terms[name]]
    if differ:
        raise DataError(
            f"{folder} holds a release with another {' and another '.join(differ)}; name a new folder, or give the "
            "same command again"
        )


def _difference(name: str, before: Any, now: Any) -> str:
    if name == "options" and isinstance(before, Mapping):
        names = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
        return " and ".join(f"{key} ({before.get(key)}, now {now.get(key)})" for key in names)
    if name == "input" and isinstance(before, list):
        old = {each["file"]: each for each in before}
        changed = [each["file"] for each in now if old.get(each["file"]) != each]
        gone = [file for file in old if file not in [each["file"] for each in now]]
        return f"input ({(changed + gone)[0]})"
    return f"{TERMS[name]} ({before}, now {now})" if name == "version" else (TERMS | LEDGER)[name]


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read; name a new folder") from error
    return found if isinstance(found, dict) else None


def _write(path: Path, content: Mapping[str, Any], whole: Callable[[Path], None] | None = None) -> None:
    with written_beside(path, whole=whole) as file:
        file.write(json.dumps(content, indent=1).encode())
