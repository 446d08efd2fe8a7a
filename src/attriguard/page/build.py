"""The page in one file: template, style, script and guard, under a policy that permits that script and nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from attriguard.page.pack import Packed

HERE = Path(__file__).parent
SCRIPTS = HERE / "js"
START = "ui.js"
IMPORT = re.compile(r'^import \{[^}\n]*\} from "\./([\w.-]+\.js)";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:async )?function|class|const|let)", re.M)
SLOT = re.compile(r"\{\{ (\w+) \}\}")


def page_html(packed: Packed) -> str:
    """The whole page."""
    style, script = (HERE / "page.css").read_text(encoding="utf-8"), bundle(START)
    parts = {
        "policy": policy(script, style),
        "style": style,
        "card": json_block(packed.card),
        "guard": base64.b64encode(packed.weights).decode(),
        "script": script,
    }
    template = (HERE / "page.html").read_text(encoding="utf-8")
    return SLOT.sub(lambda slot: parts[slot.group(1)], template)


def policy(script: str, style: str) -> str:
    """The content policy: this script and this style by their hashes, no connections, no forms, nothing else."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def bundle(start: str) -> str:
    """A module and all that it imports as one: each file once, after those that it needs."""
    return "\n".join(f"// {name}\n\n{_bare(name)}" for name in _in_order(start, set()))


def json_block(value: Any) -> str:
    """JSON for a script block: no text in it can end the block, or begin a comment, whatever titles hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub(r"[<>&\u2028\u2029]", lambda found: f"\\u{ord(found.group()):04x}", text)


def _in_order(name: str, seen: set[str]) -> list[str]:
    if name in seen:
        return []
    seen.add(name)
    needed = [other for direct in IMPORT.findall(_source(name)) for other in _in_order(direct, seen)]
    return [*needed, name]


def _source(name: str) -> str:
    return (SCRIPTS / name).read_text(encoding="utf-8")


def _bare(name: str) -> str:
    return EXPORT.sub("", IMPORT.sub("", _source(name))).strip() + "\n"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
