"""Sealed files: arrays (safetensors) and JSON with a SHA-256 digest of all they hold, which is checked before use.

A digest tells damage from what was written. Against somebody who means it, a file can be signed with a secret key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard.data.files import check_file, written_beside
from attriguard.errors import DataError

Tensors = Mapping[str, NDArray[Any]]
# Keeps digests and signatures apart from any other use of the same content or key.
DOMAIN, SIGNATURE_DOMAIN = b"attriguard sealed file 1", b"attriguard signature 1 "
DIGEST, SIGNATURE = "digest", "signature"
# How the format names types of arrays.
TYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "uint64": "U64", "int32": "I32",
    "uint32": "U32", "int16": "I16", "uint16": "U16", "int8": "I8", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
# The header of a file is padded to this many bytes, so that arrays begin where processors like them to.
ALIGNED = 8
# JSON deeper than this is not ours.
DEEPEST = 50
# What reading a file that is not what it was can raise, besides errors of our own.
BROKEN = (OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, MemoryError, RecursionError)


class DamagedError(DataError):
    """A file whose content is not what was written."""


@dataclass(frozen=True, eq=False)
class Sealed:
    """What a file holds. ``digest`` is None for an old file without one, and else it is right."""

    header: Any
    tensors: dict[str, NDArray[Any]]
    digest: str | None
    signature: str | None

    def signed_with(self, key: bytes) -> bool:
        """Was the file signed with this key?"""
        if self.digest is None or self.signature is None:
            return False
        return hmac.compare_digest(self.signature.encode(), signature_of(self.digest, key).encode())


def digest_of(kind: str, header: str, tensors: Tensors) -> str:
    """SHA-256 over the kind of file, its header, and the name, type, shape and bytes of every array, in their order."""
    found = hashlib.sha256(DOMAIN)
    for part in _parts(kind, header, tensors):
        found.update(struct.pack("<Q", len(part)))  # lengths keep parts apart
        found.update(part)
    return found.hexdigest()


def _parts(kind: str, header: str, tensors: Tensors) -> Iterable[bytes | memoryview]:
    yield from (kind.encode(), header.encode())
    for name, array in sorted(tensors.items()):
        yield f"{name} {array.dtype.name} {array.shape}".encode()
        yield _bytes_of(array)


def _bytes_of(array: NDArray[Any]) -> bytes | memoryview:
    """The bytes of an array, row by row and little-endian; copied only where they do not lie so."""
    flat = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(-1)
    return flat.view(np.uint8).data if flat.size else b""


def signature_of(digest: str, key: bytes) -> str:
    """HMAC-SHA-256 of a digest under a secret key."""
    return hmac.new(key, SIGNATURE_DOMAIN + digest.encode(), hashlib.sha256).hexdigest()


def write_sealed(kind: str, header: Any, tensors: Tensors, path: Path, key: bytes | None = None) -> None:
    """Write arrays and a header, which JSON knows, to a file that is its owner's alone; with a key, sign them."""
    text = json.dumps(header)
    metadata = {kind: text, DIGEST: digest_of(kind, text, tensors)}
    if key is not None:
        metadata[SIGNATURE] = signature_of(metadata[DIGEST], key)
    # Wide types first, so that every array begins at a multiple of its width.
    ordered = sorted(tensors.items(), key=lambda each: (-each[1].dtype.itemsize, each[0]))
    described: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, array in ordered:
        start, end = end, end + array.nbytes
        described[name] = {"dtype": TYPES[array.dtype.name], "shape": array.shape, "data_offsets": [start, end]}
    head = json.dumps(described).encode()
    head += b" " * (-len(head) % ALIGNED)
    with written_beside(path, private=True) as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for _, array in ordered:
            file.write(_bytes_of(array))


def read_sealed(kind: str, path: Path, *, unsealed: bool = False) -> Sealed:
    """What `write_sealed` wrote; `DamagedError` for anything else.

    With ``unsealed``, a file without a digest is read, too; the header of one of another kind is None.
    """
    from safetensors import SafetensorError, safe_open

    check_file(path)
    try:
        with safe_open(path, framework="numpy") as opened:
            metadata = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        text, digest = metadata.get(kind), metadata.get(DIGEST)
        if not (unsealed and digest is None) and digest != digest_of(kind, text or "", tensors):
            raise DamagedError(f"{path} is damaged: its content is not what was written")
        header = None if text is None else parse_json(text)
    except DamagedError:
        raise
    except (SafetensorError, *BROKEN) as error:
        raise DamagedError(f"{path} is damaged: it cannot be read") from error
    return Sealed(header, tensors, digest, metadata.get(SIGNATURE))


def parse_json(text: str) -> Any:
    """JSON of bounded depth; anything else is a `ValueError`."""
    try:
        found = json.loads(text)
    except (RecursionError, MemoryError) as error:
        raise ValueError("this JSON is too deep or too large") from error
    layer, depth = [found], 0
    while layer:
        depth += 1
        if depth > DEEPEST:
            raise ValueError("this JSON is too deep")
        layer = [part for each in layer for part in _inside(each)]
    return found


def _inside(value: Any) -> Iterable[Any]:
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in values if isinstance(each, (dict, list))]


def write_record(record: Any, path: Path) -> None:
    """Write what JSON knows, sealed under the file's own name."""
    text = json.dumps(record)
    sealed = {DIGEST: digest_of(path.name, text, {}), "record": record}
    with written_beside(path) as file:
        file.write(json.dumps(sealed).encode())


def read_record(path: Path) -> Any:
    """What `write_record` wrote; None where there is no such file, or where it is not what was written."""
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
        same = found[DIGEST] == digest_of(path.name, json.dumps(found["record"]), {})
    except BROKEN:
        return None
    return found["record"] if same else None
