"""Damage to safetensors files: bits, cuts, and edits of the header that leave it well-formed JSON."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

Chance = np.random.Generator
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2, 7, 10**6, 2**31, 2**53, 2**63, 10**30, 0.5, -0.0, 1e308, "", "x", "conceal", "both", "nan",
    "linear", "network", "ensemble", [], [0], [-1], [1, 1], [10**9, 10**9], {}, {"a": 1}, "F16", "I64", "BOOL",
)  # fmt: skip


def damage(content: bytes, chance: Chance) -> bytes:
    """The content with one kind of damage."""
    kinds = (_flip, _flip, _flip_header, _cut, _overwrite, _append, _swap, _edit, _edit, _edit_inner, _edit_inner)
    return kinds[int(chance.integers(len(kinds)))](content, chance)


def _flip(content: bytes, chance: Chance, end: int | None = None) -> bytes:
    damaged = bytearray(content)
    for _ in range(int(chance.choice([1, 1, 1, 4, 30]))):
        damaged[int(chance.integers(end or len(damaged)))] ^= 1 << int(chance.integers(8))
    return bytes(damaged)


def _flip_header(content: bytes, chance: Chance) -> bytes:
    return _flip(content, chance, _header_end(content) if chance.integers(3) else 8)


def _cut(content: bytes, chance: Chance) -> bytes:
    return content[: int(chance.integers(len(content)))]


def _overwrite(content: bytes, chance: Chance) -> bytes:
    start = int(chance.integers(len(content)))
    length = int(chance.integers(1, 200))
    dirt = bytes(length) if chance.integers(2) else chance.bytes(length)
    return (content[:start] + dirt + content[start + length :])[: len(content)]


def _append(content: bytes, chance: Chance) -> bytes:
    return content + (chance.bytes(int(chance.integers(1, 100))) if chance.integers(2) else content)


def _swap(content: bytes, chance: Chance) -> bytes:
    """Two stretches of the data change places: every byte is there, and nothing is where it was."""
    start, size = _header_end(content), len(content)
    a, b = sorted(int(place) for place in chance.integers(start, size, 2))
    length = min(b - a, size - b, 64)
    return (
        content[:a]
        + content[b : b + length]
        + content[a + length : b]
        + content[a : a + length]
        + content[b + length :]
    )


def _header_end(content: bytes) -> int:
    return 8 + struct.unpack("<Q", content[:8])[0]


def _edit(content: bytes, chance: Chance) -> bytes:
    """Another value somewhere in the header."""
    end = _header_end(content)
    header = json.loads(content[8:end])
    _change(header, chance)
    return _joined(header, content[end:])


def _edit_inner(content: bytes, chance: Chance) -> bytes:
    """Another value in the JSON that the header holds as text, or none, or two."""
    end = _header_end(content)
    header = json.loads(content[8:end])
    texts = header.get("__metadata__") or {}
    for name in list(texts):
        try:
            inner = json.loads(texts[name])
        except ValueError:
            continue
        for _ in range(int(chance.choice([1, 1, 2]))):
            if isinstance(inner, dict | list):
                _change(inner, chance)
        texts[name] = json.dumps(inner)
    return _joined(header, content[end:])


def _joined(header: Any, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def _change(tree: Any, chance: Chance) -> None:
    """Change, remove or double one entry of nested dicts and lists."""
    here = tree
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return
        key = keys[int(chance.integers(len(keys)))]
        if isinstance(here[key], dict | list) and here[key] and chance.integers(5):
            here = here[key]
            continue
        what = int(chance.integers(6))
        if what == 0:
            del here[key]
        elif what == 1 and isinstance(here, list):
            here.append(here[key])
        elif what == 2 and isinstance(here[key], int | float):
            here[key] = here[key] + int(chance.choice([-1, 1, 8]))
        elif what == 3 and isinstance(here[key], str):
            here[key] = here[key][:-1] + "y"
        else:
            here[key] = ODD[int(chance.integers(len(ODD)))]
        return
