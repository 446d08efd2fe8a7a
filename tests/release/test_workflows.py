"""The workflow files say what a public host understands, and what this project promises."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
# The keys that a workflow, a job and a step may have here; a misspelled one would be ignored or refused there.
WORKFLOW = {"name", "on", "permissions", "concurrency", "jobs"}
JOB = {"name", "needs", "runs-on", "timeout-minutes", "strategy", "env", "environment", "permissions", "steps"}
STEP = {"name", "uses", "with", "run"}
PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")
MADE = re.compile(r"\bmake ([a-z-]+)")


class Strict(yaml.SafeLoader):
    """Plain YAML in which "on" is a word, and no key stands twice."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"a key stands twice: {keys}"
        return super().construct_mapping(node, deep)


Strict.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag != "tag:yaml.org,2002:bool" or first in "tTfF"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read(path):
    return yaml.load(path.read_text(encoding="utf-8"), Strict)  # a safe loader


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_keys_are_known_actions_are_pinned_and_jobs_end(path):
    workflow = read(path)
    assert set(workflow) <= WORKFLOW
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert set(job) <= JOB, name
        assert 0 < job["timeout-minutes"] <= 60
        assert set(job.get("needs", ())) <= set(workflow["jobs"])
        for step in job["steps"]:
            assert set(step) <= STEP, step
            assert ("uses" in step) != ("run" in step), step
            assert "uses" not in step or PINNED.fullmatch(step["uses"]), step
            assert "${{" not in step.get("run", ""), f"a value from outside would be run: {step}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_target_of_make_is_there(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    runs = [step.get("run", "") for job in read(path)["jobs"].values() for step in job["steps"]]
    assert {target for run in runs for target in MADE.findall(run)} <= targets


def test_all_systems_and_versions_are_tried():
    jobs = read(FOLDER / "tests.yml")["jobs"]
    matrix = jobs["systems"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    least = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    assert least == f">={matrix['python'][0]}"


def test_a_tag_publishes_without_a_token():
    workflow = read(FOLDER / "publish.yml")
    assert workflow["on"] == {"push": {"tags": ["v*"]}}
    publish = workflow["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["needs"] == ["build"]
    assert "secrets." not in (FOLDER / "publish.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.name
)
def test_templates_for_issues_can_be_read(path):
    template = read(path)
    if path.name != "config.yml":
        assert {"name", "description", "body"} <= set(template)
        assert {part["type"] for part in template["body"]} <= {"markdown", "textarea", "input"}
