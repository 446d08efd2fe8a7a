"""What comes from outside is bounded before it is held: a small packed file may unpack to more than the memory."""

from __future__ import annotations

import gzip
import io

from attriguard.errors import DataError

# A packed file may always unpack to this much, and a larger one to this many times its own size: a row of 20 bytes
# would then take a fifth of a byte. (Two million random ratings packed 3.4-fold.)
ALWAYS_BYTES = 1_000_000_000
MOST_TIMES = 100
STEP_BYTES = 1 << 20


def most_unpacked(packed: int) -> int:
    """How many bytes a packed file of this size may unpack to."""
    return max(ALWAYS_BYTES, MOST_TIMES * packed)


def refuse_bomb(name: str, packed: int, found: str) -> DataError:
    """The error for a file that unpacks to too much; ``found`` says to how much."""
    return DataError(
        f"{name} has {packed:,} bytes and unpacks to {found}; a file may unpack to {ALWAYS_BYTES:,} bytes, or to "
        f"{MOST_TIMES} times its size: if you trust this one, unpack it or split it yourself"
    )


def gunzip(content: bytes, name: str) -> bytes:
    """Unpack a gzip step by step, and stop where it grows beyond the bound."""
    most = most_unpacked(len(content))
    whole = io.BytesIO()
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
        while step := packed.read(STEP_BYTES):
            if whole.tell() + len(step) > most:
                raise refuse_bomb(name, len(content), f"more than {most:,} bytes")
            whole.write(step)
    return whole.getvalue()
