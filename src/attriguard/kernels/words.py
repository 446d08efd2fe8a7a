"""Secret words of ids: SHAKE-256 of a prefix, which holds a key, and the id as text."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Fewer ids are hashed one after another, in less time than the kernel needs to be loaded.
FEW = 5_000


def keyed_words(prefix: bytes, ids: NDArray[Any], count: int) -> NDArray[np.uint64]:
    """``count`` words for each id: nobody without the prefix can foresee them, and no id tells another's."""
    if ids.size < FEW:
        shake = hashlib.shake_256
        stream = b"".join([shake(prefix + str(each).encode()).digest(8 * count) for each in ids.tolist()])
        return np.frombuffer(stream, dtype="<u8").astype(np.uint64).reshape(ids.size, count)
    from attriguard.kernels.shake import shake_words
    from attriguard.kernels.threads import over_users

    text, ends = _texts(ids)
    head = np.frombuffer(prefix, dtype=np.uint8)
    words = np.empty((ids.size, count), dtype=np.uint64)
    over_users(ids.size, lambda start, stop: shake_words(head, text, ends, start, stop, words))
    return words


def _texts(ids: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """All ids as text, one behind the other, and where each ends."""
    if ids.dtype.kind in "iu":
        import pyarrow as pa

        cells = pa.array(ids).cast(pa.large_string())
        _, ends, text = cells.buffers()
        return np.frombuffer(text, dtype=np.uint8), np.frombuffer(ends, dtype=np.int64)[: ids.size + 1]
    texts = [str(each).encode() for each in ids.tolist()]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return np.frombuffer(b"".join(texts), dtype=np.uint8), ends
