"""The browser extension as the files of a folder: the page's own modules, the guard, and a manifest.

The side panel is the page: the same template, with the style, the script and the guard in files of their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from attriguard.data.files import make_folder, written_beside
from attriguard.errors import DataError
from attriguard.page.build import HERE, SCRIPTS, START, json_block
from attriguard.page.pack import Packed

MANIFEST = "manifest.json"
OWN = HERE / "extension"
# What a browser takes for a name.
LONGEST_NAME = 75
# What stands in the page itself, and in place of it in the panel.
IN_FILES = {
    '<meta http-equiv="Content-Security-Policy" content="{{ policy }}">\n': "",  # the manifest has it
    "<style>{{ style }}</style>": '<link rel="stylesheet" href="page.css">',
    '<script type="application/json" id="card">{{ card }}</script>\n': "",
    '<script type="application/octet-stream" id="guard">{{ guard }}</script>\n': "",
    '<script type="module">{{ script }}</script>': '<script type="module" src="extension/panel.js"></script>',
}


def extension_files(packed: Packed) -> dict[str, bytes]:
    """Every file of the extension, by its name in the folder."""
    scripts = [path for path in (*SCRIPTS.glob("*.js"), *OWN.glob("*.js")) if path.name != START]
    return {
        MANIFEST: _manifest(packed.card["attribute"]).encode(),
        "panel.html": _panel().encode(),
        "page.css": (HERE / "page.css").read_bytes(),
        "card.json": json_block(packed.card).encode(),
        "guard.bin": packed.weights,
        **{path.relative_to(HERE).as_posix(): path.read_bytes() for path in sorted(scripts)},
    }


def write_folder(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files; a folder that holds anything but an earlier extension is refused."""
    make_folder(folder)
    if any(folder.iterdir()) and not _is_ours(folder / MANIFEST):
        raise DataError(f"{folder} holds other files; name a new folder for the extension")
    for name, content in files.items():
        path = folder / name
        make_folder(path.parent)
        with written_beside(path) as file:
            file.write(content)


def _manifest(attribute: str) -> str:
    manifest = json.loads((OWN / MANIFEST).read_text(encoding="utf-8"))
    return json.dumps({**manifest, "name": f"{manifest['name']}: {attribute}"[:LONGEST_NAME]}, indent=2)


def _is_ours(path: Path) -> bool:
    try:
        return str(json.loads(path.read_bytes())["name"]).startswith("attriguard")
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _panel() -> str:
    text = (HERE / "page.html").read_text(encoding="utf-8")
    for in_page, in_panel in IN_FILES.items():
        text = text.replace(in_page, in_panel)
    return text
