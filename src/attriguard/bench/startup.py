"""How long a person waits for ``attriguard --help`` and for ``import attriguard``."""

from __future__ import annotations

import subprocess
import sys

from attriguard.bench.measure import Figure, best_of
from attriguard.progress import Progress, ProgressLike

HELP_SECONDS = 0.4
IMPORT_SECONDS = 0.5


def run(*, progress: ProgressLike = None) -> list[Figure]:
    """Seconds until ``--help`` is printed, and seconds that the import adds to an empty program."""

    def shell(*arguments: str) -> float:
        return best_of(lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True), 5)

    bare = shell("-c", "pass")
    Progress.of(progress).tell("attriguard --help", 0.3)
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
