"""A few hundred seeds of every kind, on every run of the tests; ``make fuzz`` runs as many thousands as wanted."""

from __future__ import annotations

import numpy as np
import pytest
from fuzz_damage import damage
from fuzz_properties import KINDS, check_line
from fuzz_tables import ARROW_TYPES, DIGIT_MARK, TEXT_MARK

from fuzz import SHARES, Outcome, run, seeds

# Until files carry a digest of their content, most damage is not seen when they are read, though no process dies of it.
# With digests, this is False.
NO_DIGESTS = False
SEALED = ("guard-files", "checkpoints", "caches")


def failures(**counts: int) -> list[str]:
    """Run the first seeds of some kinds in a process of their own; what failed, in words."""
    tasks = [(kind.replace("_", "-"), seed) for kind, count in counts.items() for seed in range(count)]
    outcomes = list(run(tasks))
    assert [(outcome.kind, outcome.seed) for outcome in outcomes] == tasks
    return [f"{outcome.kind}:{outcome.seed} {outcome.word}" for outcome in outcomes if outcome.failed]


def test_tables() -> None:
    failed = failures(inputs=300, round_trips=40)
    assert not failed, "\n".join(failed)


def test_damaged_files_and_kills() -> None:
    failed = failures(guard_files=80, checkpoints=60, caches=60, kills=12)
    unseen = [line for line in failed if line.startswith(SEALED) and "the process ended" not in line]
    others = [line for line in failed if line not in unseen]
    assert not others, "\n".join(others)
    assert bool(unseen) == NO_DIGESTS, "\n".join(unseen)


# --- the fuzzing itself: what it could miss ---


def test_a_crash_is_one_failed_seed() -> None:
    """A worker that dies fails the seed it was at, and another one goes on behind it."""
    assert list(run([("crash", 1), ("crash", 2)])) == [
        Outcome("crash", seed, "the process ended with -11: ", failed=True) for seed in (1, 2)
    ]


def test_seeds_of_a_run_go_on_where_another_ended() -> None:
    for kind in KINDS:
        both = [seed for name, seed in seeds(300, 0) + seeds(200, 300) if name == kind]
        assert both == list(range(5 * SHARES[kind]))


BAD_LINES = ("two\nlines", "\x1b[31m", "", f"got {TEXT_MARK}3", f"got {DIGIT_MARK}0002.5", "x" * 9_999)


@pytest.mark.parametrize("line", BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_bad_line_is_seen(line: str, tmp_path) -> None:
    with pytest.raises(AssertionError):
        check_line(line, tmp_path)


def test_damage_is_damage() -> None:
    """Every kind of damage changes the file, nearly always; a seed does the same again."""
    from safetensors.numpy import save

    content = save({"a": np.arange(50.0), "b": np.ones((3, 4), dtype=np.float32)}, {"h": '{"x": [1, 2], "y": "z"}'})
    damaged = [damage(content, np.random.default_rng(seed)) for seed in range(200)]
    assert damaged == [damage(content, np.random.default_rng(seed)) for seed in range(200)]
    assert sum(each != content for each in damaged) > 180
    assert len(set(damaged)) > 150
    assert len({str(kind) for kind in ARROW_TYPES}) > 45
