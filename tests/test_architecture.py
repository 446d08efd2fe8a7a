"""Rooms: every import follows an arrow of the table in docs/architecture.md, and no arrows make a ring."""

from __future__ import annotations

import ast
import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "attriguard"
BASE = (
    "errors", "progress", "_checks", "_registry", "_fingerprint", "_text", "_version", "_lazy", "_fitted", "_keys",
    "_parameters", "_seen",
)  # fmt: skip
PUBLIC = "public"


def permitted() -> dict[str, set[str]]:
    """Room → the rooms it may import, from the table."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| ([a-z]+) \| ([^|]+) \| [^|]+ \|$", text, flags=re.M)
    found = {room: set() if arrows == "–" else {each.strip() for each in arrows.split(",")} for room, arrows in rows}
    found[PUBLIC] = set(found) - {PUBLIC, "cli"}
    return found


def room_of(module: str) -> str:
    """The room of a dotted module below the package; "" is the package itself."""
    first = module.split(".")[0]
    if not first:
        return PUBLIC
    return {"__main__": "cli"}.get(first, "base" if first in BASE else first)


def rooms() -> set[str]:
    return {room_of(path.relative_to(PACKAGE).with_suffix("").parts[0]) for path in PACKAGE.rglob("*.py")} - {
        "__init__"
    } | {PUBLIC}


def imports(tree: ast.AST, names: set[str]) -> list[tuple[int, str]]:
    """(line, room) of every import of the package, wherever it stands: inside functions and for types, too."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [
                (node.lineno, room_of(alias.name.removeprefix("attriguard").lstrip(".")))
                for alias in node.names
                if alias.name.split(".")[0] == "attriguard"
            ]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "attriguard":
            if node.module != "attriguard":
                found.append((node.lineno, room_of(node.module.removeprefix("attriguard."))))
                continue
            found += [(node.lineno, alias.name if alias.name in names else PUBLIC) for alias in node.names]
    return found


def arrows() -> dict[tuple[str, str], list[str]]:
    """(room, room it imports) → where."""
    names = rooms()
    found: dict[tuple[str, str], list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        room = PUBLIC if relative.parts == ("__init__.py",) else room_of(relative.with_suffix("").parts[0])
        for line, target in imports(ast.parse(path.read_text()), names):
            if target != room:
                found.setdefault((room, target), []).append(f"src/attriguard/{relative}:{line}")
    return found


def test_the_table_names_every_room():
    assert rooms() == set(permitted())


def test_every_import_is_permitted():
    allowed = permitted()
    wrong = [
        f"{place}: {room} imports {target}"
        for (room, target), places in arrows().items()
        if target not in allowed[room]
        for place in places
    ]
    assert not wrong, "imports that docs/architecture.md does not permit:\n" + "\n".join(wrong)


def test_every_arrow_of_the_table_is_used():
    used = set(arrows())
    unused = [
        f"{room} → {target}"
        for room, targets in permitted().items()
        if room != PUBLIC
        for target in targets
        if (room, target) not in used
    ]
    assert not unused, f"arrows in docs/architecture.md that no import uses: {', '.join(unused)}"


def test_no_ring_of_rooms():
    try:
        TopologicalSorter(permitted()).prepare()
    except CycleError as error:
        pytest.fail(f"a ring in docs/architecture.md: {' → '.join(error.args[1])}")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from attriguard.noise.edits import Edits", "noise"),
        ("import attriguard.noise", "noise"),
        ("def f():\n    from attriguard.cli import app", "cli"),
        ("if TYPE_CHECKING:\n    from attriguard.guard import AttriGuard", "guard"),
        ("from attriguard import goals", "goals"),
        ("from attriguard import AttriGuard", PUBLIC),
        ("import attriguard as ag", PUBLIC),
        ("from attriguard._checks import check_rng", "base"),
    ],
)
def test_imports_are_found_wherever_they_stand(source, expected):
    assert [room for _, room in imports(ast.parse(source), rooms())] == [expected]


MOST_CROSSINGS = 120


def test_a_release_crosses_few_thresholds(tmp_path):
    """Calls from one room into another in one `protect --goal both`; base, which all rooms stand on, does not count."""
    import attriguard as ag

    data = ag.load_dataset("twin", n_users=1500, n_items=300, n_values=4)
    ag.learn(data, goal="both", members=1, split=0.5, random_state=0).save(tmp_path / "city.guard")
    table, crossings = data.to_arrow(), []

    def room(frame):
        path = Path(frame.f_code.co_filename)
        return room_of(path.relative_to(PACKAGE).with_suffix("").parts[0]) if PACKAGE in path.parents else None

    def watch(frame, event, _):
        if event != "call" or frame.f_code.co_name.startswith("<") or room(frame) in (None, "base", "__init__"):
            return
        caller = frame.f_back
        while caller is not None and room(caller) is None:
            caller = caller.f_back
        if caller is not None and room(caller) not in ("base", "__init__", room(frame)):
            crossings.append(f"{room(caller)} → {room(frame)}.{frame.f_code.co_name}")

    ag.protect(table, tmp_path / "city.guard", goal="both", key=b"0123456789abcdef")  # imports and compiles
    sys.setprofile(watch)
    try:
        ag.protect(table, tmp_path / "city.guard", goal="both", key=b"0123456789abcdef")
    finally:
        sys.setprofile(None)
    assert 30 < len(crossings) <= MOST_CROSSINGS, crossings
