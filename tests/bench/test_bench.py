"""The benchmarks run and judge; their timings are not tested."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import subprocess
import sys

import pytest

from attriguard import bench
from attriguard.bench import conceal, heavy, million, phase1, phase2, startup
from attriguard.bench.measure import Figure
from attriguard.data.named import datasets
from attriguard.errors import MissingExtraError, ParameterError


def test_a_figure_knows_whether_it_is_reached():
    assert Figure("speed", 3000, "times", floor=2000).reached
    assert not Figure("speed", 1000, "times", floor=2000).reached
    assert not Figure("memory", 7, "GB", ceiling=6).reached
    assert Figure("memory", 5, "GB", ceiling=6).record()["reached"]


def test_the_table_of_parts_fits_the_files():
    """Every file with a ``run`` is a part, and takes what the table says it takes."""
    files = [module.name for module in pkgutil.iter_modules(bench.__path__)]
    modules = {name: importlib.import_module(f"attriguard.bench.{name}") for name in files}
    assert {name for name, module in modules.items() if hasattr(module, "run")} == set(bench.PARTS)
    for name, part in bench.PARTS.items():
        parameters = inspect.signature(modules[name].run).parameters
        taken = {known for known in ("data", "dataset", "n_users", "progress") if known in parameters}
        assert taken == {*part.takes, "progress"}
        assert part.name == name
        assert part.summary.endswith(".")


def test_parts_run_one_after_another_on_data_that_is_loaded_once(monkeypatch, small_twin):
    calls, shown = [], []
    for name in ("phase1", "million", "network"):

        def run(name=name, progress=None, **given):
            calls.append((name, given))
            progress.tell("inside", 0.5)
            return [Figure(name, 1.0, "times")]

        monkeypatch.setattr(importlib.import_module(f"attriguard.bench.{name}"), "run", run)
    loaded = []
    monkeypatch.setattr(datasets, "load_dataset", lambda name: loaded.append(name) or small_twin)
    figures = bench.run(["phase1", "million", "network"], dataset="a", progress=lambda *told: shown.append(told))
    assert [figure.name for figure in figures] == ["phase1", "million", "network"]
    assert loaded == ["a"]
    assert calls[0] == ("phase1", {"data": small_twin})
    assert calls[1] == ("million", {})
    assert calls[2] == ("network", {"data": small_twin, "dataset": "a"})
    assert ("network: inside", pytest.approx(5 / 6)) in shown
    with pytest.raises(ParameterError, match="unknown part 'phase3'; known: startup"):
        bench.run(["phase3"])


def test_the_machine_is_described():
    assert {"python", "threads", "numpy", "numba"} < set(bench.machine())


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


def test_phase_one_is_held_against_the_other_package(small_twin, monkeypatch):
    theirs = {"seconds_a_user": 1e6, "mean_l0": 1e3, "success": 0.5}
    monkeypatch.setattr(phase1, "saliency_maps", lambda model, x, m: theirs)
    figures = phase1.run(small_twin, users=5)
    assert len(figures) == 9
    assert all(figure.reached for figure in figures)
    speed, noise, success = figures[:3]
    assert speed.value == pytest.approx(1e6 / speed.details["seconds_a_user"])
    assert noise.value == pytest.approx(speed.details["mean_l0_same_users"] / 1e3)
    assert success.value == speed.details["success"]


def test_looking_at_the_parts_loads_no_numbers():
    program = "import sys, attriguard.bench as b; b.PARTS; print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "False"


def test_the_command_writes_json(cli_bench, tmp_path):
    code, out, _ = cli_bench("bench", "--only", "startup", "--output", tmp_path / "b.json", "--json")
    assert code == 0
    written = json.loads((tmp_path / "b.json").read_text())
    assert json.loads(out) == written | {"output": str(tmp_path / "b.json")}
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
    # The search tries out few of the removals, and leaves as little as one that tries out all of them.
    assert figure.details["leakage_left"] <= 1.05 * figure.details["leakage_left_torch"]


def test_heavy_users_are_measured_against_trying_out_every_rating(small_twin):
    (figure,) = heavy.run(small_twin)
    assert figure.value > 1
    before, left, every = (figure.details[f"leakage{name}"] for name in ("", "_left", "_left_every"))
    assert before - left >= 0.9 * (before - every) > 0


def test_a_plan_at_one_price_is_held_against_one_for_each_user():
    from attriguard.bench import everyone

    learning, million, ratio = everyone.run(n_users=400, learning={300: 600.0})
    assert learning.reached
    assert learning.value > learning.details["seconds_mislead"] > 0
    assert million.value == pytest.approx(million.details["seconds_everyone"] * 1_000_000 / million.details["users"])
    assert ratio.value == pytest.approx(million.details["seconds_everyone"] / million.details["seconds_user"])


def test_a_second_release_is_held_against_the_first(monkeypatch):
    from attriguard.bench import releases

    monkeypatch.setattr(releases, "SETTLING", 200)
    monkeypatch.setattr(releases, "GUARDS", (("mislead", "user"),))
    monkeypatch.setenv("ATTRIGUARD_THREADS", "1")
    (figure,) = releases.run(n_users=300)
    assert figure.value == pytest.approx(figure.details["second"] / figure.details["first"])


def test_a_table_in_parts_is_held_against_its_halves(monkeypatch):
    """Every step runs for real, on few users; only the number of kills is small."""
    from attriguard.bench import bulk

    monkeypatch.setattr(bulk, "KILLS", 1)
    monkeypatch.setenv("ATTRIGUARD_THREADS", "1")
    ratio, against, memory, growth, differ, *spark = bulk.run(n_users=300)
    assert ratio.details["ratings"] > 300
    assert ratio.value == pytest.approx(ratio.details["seconds"] / (ratio.details["sort"] + ratio.details["plan"]))
    assert against.value > 0
    assert growth.value > 0
    assert memory.value > 0.05 or sys.platform != "linux"
    assert differ.value == 0
    assert differ.reached
    assert not spark or (spark[0].value > 0 and spark[1].value == 0)  # where Java is
