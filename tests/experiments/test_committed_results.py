"""Results that are committed can still be read, and today's rules give the verdicts that they record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attriguard.experiments import get

ROOT = Path(__file__).parents[2] / "results"
FOUND = [
    (file, name) for file in sorted(ROOT.rglob("results.json")) for name in json.loads(file.read_text())["experiments"]
]


@pytest.mark.parametrize(("file", "name"), FOUND, ids=lambda part: part if isinstance(part, str) else part.parent.name)
def test_the_rules_give_the_recorded_verdict(file, name):
    known, experiment = json.loads(file.read_text())["experiments"][name], get(name)
    numbers = known["numbers"]
    assert experiment.verdict(numbers) == known["verdict"]
    assert list(experiment.main(numbers)) == [known["paper"], known["measured"]]
    assert [check.passed for check in experiment.checks(numbers)] == [check["passed"] for check in known["checks"]]
    assert experiment.show(numbers)
