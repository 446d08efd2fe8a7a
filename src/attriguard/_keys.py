"""Secret keys: which are refused, and what is derived from them for one attribute and one purpose."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from attriguard._text import bare_name
from attriguard.errors import ParameterError

# Fewer bytes, or fewer distinct ones besides blanks, can be guessed by trying.
SHORTEST_KEY, FEWEST_DISTINCT = 16, 6
NEW_KEY_BYTES = 32
# Keeps what is derived here apart from any other use of the same key.
DOMAIN = b"attriguard key 2"
BLANKS = frozenset(b" \t\n\r\v\f")


def check_key(key: bytes | str) -> bytes:
    """The key as bytes; one that can be guessed is refused: short, of few distinct characters, or a repetition."""
    if not isinstance(key, (bytes, str)):
        raise ParameterError(f"key must be bytes or text, got {type(key).__name__}")
    secret = key.encode() if isinstance(key, str) else bytes(key)
    repeated = any(secret[n:] == secret[:-n] for n in range(1, min(SHORTEST_KEY, len(secret) // 2 + 1)))
    if len(secret) < SHORTEST_KEY or len(set(secret) - BLANKS) < FEWEST_DISTINCT or repeated:
        raise ParameterError(
            f"this key can be guessed: a key must have at least {SHORTEST_KEY} bytes, {FEWEST_DISTINCT} distinct "
            "characters besides blanks, and be no repetition; make a random one with: attriguard key new secret.key"
        )
    return secret


def fresh_key() -> bytes:
    """A key that nobody knows, from the operating system: for a release that is never to be repeated."""
    return secrets.token_bytes(NEW_KEY_BYTES)


def derive_key(key: bytes | str, attribute: str, purpose: str) -> bytes:
    """The key for one attribute and one purpose (HKDF with SHA-256, RFC 5869): none tells anything about another.

    The attribute's name counts whatever its case, blanks and marks, so that a column that was renamed from "city" to
    "City" keeps its draws.
    """
    secret = hmac.digest(DOMAIN, check_key(key), hashlib.sha256)
    # A bare name holds no zero byte, so that no two pairs of purpose and attribute give the same text.
    return hmac.digest(secret, b"\0".join((purpose.encode(), bare_name(attribute).encode())) + b"\1", hashlib.sha256)
