"""What every script of the page is held to: no way out, no text read as code or markup, names that are distinct."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import attriguard as ag

PAGE = Path(ag.__file__).parent / "page"
MODULES = sorted((PAGE / "js").glob("*.js"))
SCRIPTS = [*MODULES, *sorted((PAGE / "extension").glob("*.js"))]
WAYS_OUT = r"XMLHttpRequest|WebSocket|EventSource|sendBeacon|RTCPeerConnection|\bimport\(|importScripts|window\.open"
AS_CODE = r"(?:inner|outer|insertAdjacent)HTML|document\.write|\beval\(|\bFunction\(|DOMParser|ContextualFragment"
TOP = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let)\*? (\w+)", re.M)


def code_of(path: Path) -> str:
    """The script without its comments."""
    text = re.sub(r"^\s*/\*\*.*?\*/", "", path.read_text("utf-8"), flags=re.M | re.S)
    return re.sub(r"^\s*//.*$", "", text, flags=re.M)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_has_a_way_out_or_reads_text_as_code(path):
    code = code_of(path)
    assert re.findall(WAYS_OUT, code) == []
    assert re.findall(AS_CODE, code) == []
    if path.name != "files.js":  # the extension's own files
        assert "fetch(" not in code


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_every_export_says_what_it_is_and_lines_are_short(path):
    lines = path.read_text("utf-8").splitlines()
    assert lines[0].startswith("// ")
    assert [line for line in lines if len(line) > 120] == []
    exported = [k for k, line in enumerate(lines) if line.startswith("export ")]
    assert [lines[k] for k in exported if not lines[k - 1].rstrip().endswith("*/")] == []


def test_names_can_stand_together_in_one_script():
    names = Counter(name for path in MODULES for name in TOP.findall(path.read_text("utf-8")))
    assert [name for name, n in names.items() if n > 1] == []
