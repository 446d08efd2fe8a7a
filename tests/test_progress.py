"""Progress that nests: shares add up, labels nest, and nothing is counted in advance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attriguard.progress import Progress, tell_compiling


class Seen:
    def __init__(self):
        self.calls = []

    def __call__(self, what, share):
        self.calls.append((what, share))

    @property
    def shares(self):
        return [share for _, share in self.calls]


def test_parts_divide_the_bar_by_their_weights():
    seen = Seen()
    learning, attacking = Progress(seen).parts(3, 1)
    learning.tell("learning", 0.5)
    attacking.tell("attacking", 0.5)
    assert seen.calls == [("learning", pytest.approx(0.375)), ("attacking", pytest.approx(0.875))]


def test_each_gives_equal_parts_and_labels():
    seen = Seen()
    for name, part in Progress(seen).each(["LR-A", "RF-A"], lambda name: name):
        part.tell("trains", 0.5)
        assert seen.calls[-1][0] == f"{name}: trains"
    assert seen.shares == pytest.approx([0.0, 0.25, 0.5, 0.75])


def test_only_the_innermost_labels_are_shown():
    seen = Seen()
    Progress(seen).named("figure-4").named("NN-A").tell("epoch 3")
    assert seen.calls == [("NN-A: epoch 3", 0.0)]


def test_a_counter_never_passes_the_end():
    seen = Seen()
    count = Progress(seen).parts(1, 1)[0].counter(2, "Phase I")
    for _ in range(3):
        count(1)
    assert seen.shares == pytest.approx([0.25, 0.5, 0.5])


def test_nothing_shows_nothing():
    Progress.of(None).tell("silence")
    quiet = Progress()
    assert Progress.of(quiet) is quiet


@given(st.recursive(st.just([]), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=20))
def test_a_bar_only_moves_forward_and_stays_within_its_ends(tree):
    seen = Seen()

    def work(branches, progress):
        for branch, part in progress.each(branches):
            work(branch, part)
        progress.tell("done", 1.0)

    work(tree, Progress(seen))
    assert seen.shares == sorted(seen.shares)
    assert seen.shares[-1] == pytest.approx(1.0)
    assert all(0.0 <= share <= 1.0 + 1e-12 for share in seen.shares)


def test_a_bar_says_that_a_kernel_is_compiled(monkeypatch):
    import io

    from rich.console import Console

    import attriguard as ag

    monkeypatch.setenv("TERM", "xterm")  # a terminal that is called dumb gets no bar
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    with ag.progress_bar(screen) as progress:
        progress.tell("Phase I", 0.5)
        tell_compiling()
    tell_compiling()  # nobody listens any more
    assert "compiling for this machine, once" in screen.file.getvalue()
