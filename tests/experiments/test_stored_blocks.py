"""Noise in files: whatever is not what was found counts as missing, before a kernel follows its indices."""

from __future__ import annotations

import numpy as np
import pytest

from attriguard.data.sealed import read_sealed, write_sealed
from attriguard.experiments.blocks import HEADER, NoiseBlock, load_block, save_block

SIZES = (7, 3, 100)  # users, values, items of the tiny twin


@pytest.fixture(scope="module")
def found(shared_work):
    plan = shared_work.guard(search="margin").plan(shared_work.X[:7])
    return NoiseBlock(plan.edits, plan.inferred, 1.0)


@pytest.fixture
def file(found, tmp_path):
    save_block(found, tmp_path / "edits.safetensors")
    return tmp_path / "edits.safetensors"


def test_it_comes_back(found, file):
    block = load_block(file, *SIZES)
    np.testing.assert_array_equal(block.edits.indptr, found.edits.indptr)
    np.testing.assert_array_equal(block.edits.items, found.edits.items)
    assert block.seconds == 1.0
    for sizes in ((8, 3, 100), (7, 4, 100), (7, 3, int(found.edits.items.max()))):
        assert load_block(file, *sizes) is None
    file.rename(file.with_name("other.safetensors"))
    assert load_block(file.with_name("other.safetensors"), *SIZES) is None


@pytest.mark.parametrize("seed", range(100))
def test_random_damage_counts_as_missing(file, seed):
    chance, content = np.random.default_rng(seed), bytearray(file.read_bytes())
    where = int(chance.integers(len(content)))
    if seed % 3 == 0:
        content = content[:where]
    else:
        content[where] ^= 1 << int(chance.integers(8))
    file.write_bytes(content)
    assert load_block(file, *SIZES) is None


FORGED = {
    "scaled indptr": {"indptr": lambda part: part * 1000},
    "falling indptr": {"indptr": lambda part: np.r_[0, part[:0:-1]]},
    "indptr that stops before the end": {"indptr": lambda part: np.minimum(part, part[-1] - 1)},
    "indptr that starts late": {"indptr": lambda part: np.maximum(part, 1)},
    "short indptr": {"indptr": lambda part: part[:-1]},
    "narrow indptr": {"indptr": lambda part: part.astype(np.int32)},
    "items out of bounds": {"items": lambda part: part + np.int32(10**6)},
    "negative items": {"items": lambda part: part - np.int32(100)},
    "unsorted items": {"items": lambda part: part[::-1]},
    "fewer items": {"items": lambda part: part[:-1]},
    "values that are NaN": {"values": lambda part: part * np.float32(np.nan)},
    "values above 1": {"values": lambda part: part + np.float32(2)},
    "costs that are infinite": {"cost": lambda part: part + np.inf},
    "negative costs": {"cost": lambda part: part - 100},
    "numbers for success": {"success": lambda part: part.astype(np.uint8) * 7},
    "other users": {"success": lambda part: part[:-1], "cost": lambda part: part[:-1]},
    "inferred values that are none": {"inferred": lambda part: part + 3},
    "a bound of another shape": {"bound": lambda part: np.zeros(3)},
    "something else": {"anything": lambda part: np.zeros(3)},
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_noise_counts_as_missing(file, name):
    """Written with a digest of its own, so that the digest is right."""
    stored = read_sealed(HEADER, file)
    changed = {part: change(stored.tensors.get(part)) for part, change in FORGED[name].items()}
    write_sealed(HEADER, stored.header, stored.tensors | changed, file)
    assert load_block(file, *SIZES) is None


def test_headers_that_are_none(file):
    stored = read_sealed(HEADER, file)
    for header in (None, [], {}, stored.header | {"seconds": "1e400"}, stored.header | {"seconds": -1}):
        write_sealed(HEADER, header, stored.tensors, file)
        assert load_block(file, *SIZES) is None
