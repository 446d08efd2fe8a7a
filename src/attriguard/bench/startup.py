"""How long a person waits for ``attriguard --help`` and for ``import attriguard``."""

from __future__ import annotations

import subprocess
import sys

from attriguard.bench.measure import Figure, best_of

HELP_SECONDS = 0.4
IMPORT_SECONDS = 0.5


def run() -> list[Figure]:
    def shell(*arguments: str) -> float:
        return best_of(lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True), 5)

    bare = shell("-c", "pass")
    return [
        Figure(
            "attriguard --help",
            shell("-c", "from attriguard.cli import main; main(['--help'])"),
            "seconds",
            None,
            HELP_SECONDS,
            {"seconds_bare_python": bare},
        ),
        Figure("import attriguard", shell("-c", "import attriguard") - bare, "seconds", None, IMPORT_SECONDS),
    ]
