"""Sealed files: what comes back is what was written, and everything else is damaged."""

from __future__ import annotations

import json
import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from attriguard.data.sealed import (
    DIGEST,
    TYPES,
    DamagedError,
    digest_of,
    parse_json,
    read_record,
    read_sealed,
    write_record,
    write_sealed,
)

HEADER = {"what": "a test", "numbers": [1, 2.5, None]}
TENSORS = {
    "a": np.arange(12, dtype=np.float32).reshape(3, 4),
    "b": np.arange(12, dtype=np.float32).reshape(3, 4)[::-1],
    "flags": np.array([True, False, True]),
    "none": np.zeros((0, 3)),
    "one": np.array(2.5),
}


def same(one, two):
    return one.keys() == two.keys() and all(
        (one[k].dtype, one[k].shape) == (two[k].dtype, two[k].shape) and (one[k] == two[k]).all() for k in one
    )


@pytest.fixture
def written(tmp_path):
    write_sealed("test", HEADER, TENSORS, tmp_path / "x")
    return tmp_path / "x"


@pytest.mark.posix
def test_what_comes_back_is_what_was_written(written):
    found = read_sealed("test", written)
    assert found.header == HEADER
    assert same(found.tensors, TENSORS)
    assert found.signature is None
    assert same(load_file(written), TENSORS)  # safetensors as anybody reads them
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert read_sealed("other", save(written, TENSORS, {}), unsealed=True).header is None
    with pytest.raises(DamagedError):
        read_sealed("test", written)


@given(
    st.sampled_from(sorted(TYPES)).flatmap(lambda dtype: arrays(dtype, array_shapes(min_dims=0, min_side=0))),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=9),
)
def test_any_array_in_any_order_of_its_bytes(tmp_path_factory, array, name):
    path = tmp_path_factory.getbasetemp() / "sealed-any"
    swapped = array.astype(array.dtype.newbyteorder(">"))
    assert digest_of("k", "h", {name: array}) == digest_of("k", "h", {name: swapped})
    write_sealed("k", name, {name: np.asfortranarray(swapped)}, path)
    found = read_sealed("k", path)
    assert found.header == name
    np.testing.assert_array_equal(found.tensors[name], array)


def test_the_digest_is_the_published_form():
    """A known answer, so that files of this version can be read by the next one."""
    tensors = {"b": np.array([1.0, 2.0], dtype=np.float32), "a": np.array([[7]], dtype=np.int64)}
    import hashlib
    import struct

    by_hand = hashlib.sha256(b"attriguard sealed file 1")
    parts = [b"kind", b"{}", b"a int64 (1, 1)", struct.pack("<q", 7), b"b float32 (2,)", struct.pack("<2f", 1, 2)]
    for part in parts:
        by_hand.update(struct.pack("<Q", len(part)) + part)
    assert digest_of("kind", "{}", tensors) == by_hand.hexdigest()


def save(path, tensors, metadata):
    save_file({name: np.array(part, order="C") for name, part in tensors.items()}, path, metadata)
    return path


def metadata_of(path):
    with safe_open(path, framework="numpy") as opened:
        return opened.metadata()


@pytest.mark.parametrize(
    "change",
    [
        {"a": TENSORS["b"], "b": TENSORS["a"]},  # swapped
        {"a": TENSORS["a"].reshape(4, 3)},
        {"a": TENSORS["a"].view(np.int32)},
        {"a": TENSORS["a"] * np.float32(1 + 1e-6)},
        {"more": TENSORS["a"]},
        {"none": np.zeros((3, 0))},
    ],
)
def test_arrays_that_were_exchanged(written, change):
    metadata = metadata_of(written)
    save(written, TENSORS, metadata)
    assert same(read_sealed("test", written).tensors, TENSORS)  # the digest knows nothing of how a file is laid out
    save(written, TENSORS | change, metadata)
    with pytest.raises(DamagedError, match="not what was written"):
        read_sealed("test", written)


def test_a_header_that_was_exchanged(written):
    metadata = metadata_of(written)
    for change in ({"test": json.dumps(HEADER | {"numbers": []})}, {DIGEST: "0" * 64}, {DIGEST: "é"}):
        save(written, TENSORS, metadata | change)
        with pytest.raises(DamagedError):
            read_sealed("test", written)


@pytest.mark.parametrize("seed", range(300))
def test_random_damage(written, seed):
    chance, content = np.random.default_rng(seed), bytearray(written.read_bytes())
    where = int(chance.integers(len(content)))
    if seed % 5 == 0:
        content = content[:where]
    elif seed % 5 == 1:
        content += bytes(chance.integers(256, size=1 + seed % 9, dtype=np.uint8))
    elif seed % 5 == 2:
        content[where : where + 8] = bytes(chance.integers(256, size=8, dtype=np.uint8))
    else:
        content[where] ^= 1 << int(chance.integers(8))
    written.write_bytes(content)
    try:
        found = read_sealed("test", written)
    except DamagedError:
        return
    # Or the damage was to nothing that counts: another blank.
    assert found.header == HEADER
    assert same(found.tensors, TENSORS)


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 60 + "]" * 60, '{"a":' * 100_000, "9" * 5000, "{", "\udc80"])
def test_json_that_is_too_deep_or_none(text, tmp_path):
    with pytest.raises(ValueError):
        parse_json(text)
    if text.isascii():
        save(tmp_path / "deep", TENSORS, {"test": text})
        with pytest.raises(DamagedError):
            read_sealed("test", tmp_path / "deep", unsealed=True)
        (tmp_path / "deep.json").write_text(text)
        assert read_record(tmp_path / "deep.json") is None


def test_records(tmp_path):
    path, record = tmp_path / "piece.json", {"b": [1, 0.1, None], "a": {"x": float("inf")}}
    assert read_record(path) is None
    write_record(record, path)
    assert read_record(path) == record
    content = path.read_text()
    assert json.loads(content)["record"] == record
    (tmp_path / "other.json").write_text(content)
    assert read_record(tmp_path / "other.json") is None  # another one's
    for old, new in (("0.1", "0.2"), ("null", "true"), ('"b"', '"c"'), ('"digest"', '"digost"'), ("[1,", "[2,")):
        assert old in content
        path.write_text(content.replace(old, new))
        assert read_record(path) is None
