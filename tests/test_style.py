"""What every file is held to: functions that fit on a screen, few parameters, a docstring on all that is public."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "attriguard"
MOST_LINES, MOST_PARAMETERS, MOST_COMMAND_LINES = 50, 8, 40
# Public entry points with many options, each of them documented; no others.
MANY_PARAMETERS = {
    "guard/core.py:Guard.__init__",
    "defenses/guarded.py:Guarded.__init__",
    "data/ratings.py:read_ratings",
    "operations/evaluate.py:evaluate",
    "operations/compare.py:compare",
    "classifiers/network.py:NetworkClassifier.__init__",
}


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + child.name, child
            yield from functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.ClassDef):
            yield from functions(child, f"{prefix}{child.name}.")
        else:
            yield from functions(child, prefix)


def modules(*, kernels: bool) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if kernels or not name.startswith("kernels/"):
            yield name, ast.parse(path.read_text())


def n_lines(function: ast.AST) -> int:
    return function.end_lineno - function.lineno + 1


def n_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = [each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    return len(given) - (given[:1] in (["self"], ["cls"]))


def test_functions_fit_on_a_screen():
    long = [
        f"src/attriguard/{module}:{function.lineno}: {name} has {n_lines(function)} lines"
        for module, tree in modules(kernels=False)
        for name, function in functions(tree)
        if n_lines(function) > MOST_LINES
    ]
    assert not long, "\n".join(long)


def test_functions_have_few_parameters():
    found = {
        f"{module}:{name}": n_parameters(function)
        for module, tree in modules(kernels=False)
        for name, function in functions(tree)
        if n_parameters(function) > MOST_PARAMETERS and not module.startswith("cli/")  # a command's groups of options
    }
    assert set(found) <= MANY_PARAMETERS, {name: n for name, n in found.items() if name not in MANY_PARAMETERS}


def test_commands_only_parse_call_and_print():
    long = [
        f"src/attriguard/{module}:{function.lineno}: {name} has {n_lines(function)} lines"
        for module, tree in modules(kernels=False)
        if module.startswith("cli/")
        for name, function in functions(tree)
        if n_lines(function) > MOST_COMMAND_LINES
    ]
    assert not long, "\n".join(long)


def test_everything_public_has_a_docstring():
    def missing(node: ast.AST, prefix: str) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if child.name[:1] != "_" and ast.get_docstring(child) is None:
                    yield f"{prefix}:{child.lineno}: {child.name}"
                if isinstance(child, ast.ClassDef):
                    yield from missing(child, prefix)

    bare = [
        line
        for module, tree in modules(kernels=True)
        for line in (
            *([f"src/attriguard/{module}:1: the module"] if ast.get_docstring(tree) is None else []),
            *missing(tree, f"src/attriguard/{module}"),
        )
    ]
    assert not bare, f"{len(bare)} without a docstring:\n" + "\n".join(bare)


def test_no_file_holds_both_sides_of_a_merge():
    """Git's marks of a conflict, which a merge may leave behind in pages as in code."""
    marks = re.compile(r"^(<{7}|>{7}|\|{7}) ", re.MULTILINE)
    endings = {".py", ".md", ".toml", ".yml", ".json", ".js", ".css", ".html", ".txt"}
    files = [each for place in ("src", "tests", "docs", ".github") for each in (ROOT / place).rglob("*")]
    files += [each for each in ROOT.iterdir() if each.is_file()]
    torn = [
        each.relative_to(ROOT).as_posix()
        for each in files
        if each.suffix in endings and "_build" not in each.parts and marks.search(each.read_text(encoding="utf-8"))
    ]
    assert not torn
