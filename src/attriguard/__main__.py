"""``python -m attriguard``: the command ``attriguard``, where a Python's programs are not on the path."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    # Python looks first into the folder one works in: a file that came with the data must not pass for a package.
    if not sys.flags.safe_path:
        del sys.path[0]
    from attriguard.cli import main

    main()
