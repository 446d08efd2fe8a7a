"""The benchmarks run and judge; their timings are not tested."""

from __future__ import annotations

import json
import sys

import pytest

from attriguard.bench import conceal, million, phase2, startup
from attriguard.bench.measure import Figure
from attriguard.errors import MissingExtraError


def test_a_figure_knows_whether_it_is_reached():
    assert Figure("speed", 3000, "times", floor=2000).reached
    assert not Figure("speed", 1000, "times", floor=2000).reached
    assert not Figure("memory", 7, "GB", ceiling=6).reached
    assert Figure("memory", 5, "GB", ceiling=6).record()["reached"]


def test_growth_and_memory_are_measured_in_a_process_of_its_own():
    growth, memory = million.run(small=200, large=2000)
    assert growth.details["success"] == 1
    assert 0.05 < memory.value < 3


def test_startup_and_phase_two(small_twin):
    helping, importing = startup.run()
    assert helping.value > 0
    assert importing.value < helping.value  # what Python itself takes is subtracted; on a busy machine all of it
    speed, gap = phase2.run(small_twin, users=3)
    assert speed.value > 1
    assert gap.reached


def test_the_command_writes_json(cli_bench, tmp_path):
    code, out, _ = cli_bench("bench", "--only", "startup", "--output", tmp_path / "b.json", "--json")
    assert code == 0
    assert json.loads(out) == json.loads((tmp_path / "b.json").read_text())
    code, _, err = cli_bench("bench", "--only", "nothing")
    assert (code, "known: startup" in err) == (2, True)


def test_a_missing_extra_is_named(small_twin, monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(MissingExtraError, match=r"attriguard\[bench\]"):
        phase2.run(small_twin)


@pytest.fixture
def cli_bench(capsys):
    from attriguard.cli import app
    from attriguard.cli._shell import run

    def call(*arguments):
        code = run(app, [str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_concealing_is_measured_against_torch(small_twin):
    pytest.importorskip("torch")
    (figure,) = conceal.run(small_twin, users=20, torch_users=4, members=2)
    assert figure.value > 1
    assert figure.details["users_with_the_same_removals"] == 1
