"""Names that options take: the command line knows those of the package, and the shell completes them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import attriguard as ag
from attriguard.bench import PARTS
from attriguard.classifiers.factory import KINDS
from attriguard.cli._names import NAMES
from attriguard.data.named.registry import DATASETS
from attriguard.data.ratings import UNMATCHED
from attriguard.data.tables.duplicates import DUPLICATES
from attriguard.errors import ParameterError
from attriguard.experiments.profiles import PROFILES
from attriguard.mechanism.targets import TARGETS
from attriguard.noise.policy import POLICIES
from attriguard.utility.registry import RECOMMENDERS


@pytest.mark.parametrize(
    ("option", "table"),
    [
        ("attacks", ag.attacks.ATTACKS),
        ("classifier", KINDS),
        ("dataset", DATASETS),
        ("defenses", ag.defenses.DEFENSES),
        ("duplicates", DUPLICATES),
        ("experiments", ag.experiments.EXPERIMENTS),
        ("goal", ag.goals.GOALS),
        ("goals", ag.goals.GOALS),
        ("inversion", ag.attacks.ATTACKS),
        ("only", PARTS),
        ("policy", POLICIES),
        ("profile", PROFILES),
        ("recommender", RECOMMENDERS),
        ("retrained", ag.attacks.ATTACKS),
        ("search", ag.noise.SEARCHES),
        ("target", TARGETS),
        ("unmatched", UNMATCHED),
    ],
)
def test_the_command_line_knows_the_names_of_the_package(option, table):
    assert list(NAMES[option].known()) == list(table)


def test_what_is_left_to_the_operation():
    for option, given in (("attacks", "mine:Attack, LR-A"), ("attacks", "all"), ("goal", None), ("retrained", "")):
        NAMES[option].check(given)
    NAMES["experiments"].check(["figure-1", "table-1"])
    for option, given in (("goal", "all"), ("goal", "both,mislead"), ("experiments", ["figure-1", "no"])):
        with pytest.raises(ParameterError, match="unknown"):
            NAMES[option].check(given)


def complete(line):
    """What bash is offered at the end of a line, through the protocol of its completion script."""
    words = line.split(" ")
    environment = {
        **os.environ,
        "_ATTRIGUARD_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    heavy = "import sys; assert not {'numpy', 'pyarrow', 'sklearn'} & set(sys.modules)"
    program = f"from attriguard.cli import main\ntry: main()\nfinally:\n    {heavy}"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("attriguard pro", ["protect"]),
        ("attriguard protect --lock", ["--locked"]),
        ("attriguard fit --goal ", ["mislead", "conceal", "both"]),
        ("attriguard protect --policy modify", ["modify_exist", "modify_add"]),
        ("attriguard evaluate --attacks LR-A,R", ["LR-A,RF-A", "LR-A,RC-A"]),
        ("attriguard audit --dataset g", ["google-play"]),
        ("attriguard datasets info tw", ["twin"]),
        ("attriguard reproduce figure-10", ["figure-10"]),
    ],
)
def test_bash_completes(line, offered):
    assert complete(line) == offered


def test_the_completion_script(tmp_path):
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    program = "from attriguard.cli import main; main(['--show-completion', 'bash'])"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert "_ATTRIGUARD_COMPLETE=complete_bash" in done.stdout
    assert "attriguard" in done.stdout
