"""A worker process: a job and numbers of buckets come in, a line of JSON each; a line about each part goes out.

Workers are processes, not threads: half of the work of a block is Python and NumPy code that holds the interpreter's
lock. Nothing is pickled, and the key comes through the pipe.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from typing import Any

from attriguard.engines.duck import NoSpaceError
from attriguard.errors import AttriGuardError


def main() -> None:
    """Work until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints does not disturb the answers
    gc.disable()  # what is loaded now stays
    import pyarrow as pa

    _leave_pandas_out(pa)
    from attriguard.engines.maker import Maker
    from attriguard.engines.memory import keep_freed_memory

    keep_freed_memory()
    gc.freeze()
    gc.enable()
    pa.set_cpu_count(1)
    maker: Maker | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if maker is None:
                maker = Maker.of(asked)
                continue
            answer: dict[str, Any] = maker.make(asked)
        except AttriGuardError as error:
            answer = {"error": str(error), "no_space": is_full(error)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    os._exit(0)  # all is written; to take everything that was loaded apart would take half a second


def _leave_pandas_out(pyarrow: Any) -> None:
    """Have pyarrow look for pandas now, in vain: it would load it with its first array, which takes a second."""
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pyarrow.scalar(0)
    finally:
        sys.meta_path.remove(finder)


class _NoPandas:
    """Finds every module but pandas where the others look for it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Ask the others; for pandas an error, which pyarrow takes as its answer."""
        if name == "pandas":
            raise ImportError(name)


def is_full(error: BaseException) -> bool:
    """Whether an error comes from a disk without space."""
    return isinstance(error, NoSpaceError) or "No space left" in str(error)


if __name__ == "__main__":
    main()
