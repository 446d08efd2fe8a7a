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

from attriguard._lazy import leave_pandas_out
from attriguard.engines.duck import NoSpaceError
from attriguard.errors import AttriGuardError


def main() -> None:
    """Work until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints does not disturb the answers
    gc.disable()  # what is loaded now stays
    import pyarrow as pa

    leave_pandas_out()
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


def is_full(error: BaseException) -> bool:
    """Whether an error comes from a disk without space."""
    return isinstance(error, NoSpaceError) or "No space left" in str(error)


if __name__ == "__main__":
    main()
