"""Attackers who do everything they can: what each learns, and known answers where it is meant to be stronger."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import attriguard as ag
from attriguard.attacks import Attack, OwnGuard, RemovalInversion, Retrained, SelfTrained
from attriguard.attacks.absence import agreeing_weights
from attriguard.attacks.boosting import most_telling
from attriguard.attacks.ownguard import halves
from attriguard.attacks.selftrained import surest
from attriguard.classifiers.bayes import FOLDS, NaiveBayes, out_of_fold
from attriguard.errors import DataError, ParameterError
from attriguard.evaluation.protocol import three_groups


class Spy(Attack):
    """Keeps what it is given."""

    name, summary = "spy", "keeps what it is given"
    seen = None

    def __init__(self):
        pass

    def _fit(self, X, codes):
        Spy.seen = X.toarray(), codes

    def _predict_proba(self, X):
        return np.ones((X.shape[0], self.classes_.size))


def accuracy(attack, X, y):
    return float((attack.predict(X) == y).mean())


# What each registered attack can do.


def both_or_neither(n, seed):
    """Value 1 for users who have rated both or neither of two items: no single item tells anything."""
    chance = np.random.default_rng(seed)
    X = (chance.random((n, 6)) < 0.5).astype(np.float32)
    return csr_array(X), (X[:, 0] == X[:, 1]).astype(int)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("GBM-A", {"items": 6, "learning_rate": 0.3}),
        ("LNN-A", {"epochs": 30, "dropout": 0.2}),
        ("DS-A", {"epochs": 40, "dropout": 0.1}),
    ],
)
def test_it_learns_what_no_single_item_tells(name, options):
    if "nn" in ag.attacks.class_of(name).needs:
        pytest.importorskip("torch")
    attack = ag.attacks.get(name, random_state=0, **options).fit(*both_or_neither(1500, 1))
    test = both_or_neither(600, 2)
    assert accuracy(ag.attacks.get("LR-A").fit(*both_or_neither(1500, 1)), *test) < 0.65
    assert accuracy(attack, *test) > 0.95


def test_a_deep_set_tells_high_ratings_from_low_ones_and_does_not_mind_the_batch():
    pytest.importorskip("torch")
    chance = np.random.default_rng(0)
    y = chance.integers(0, 2, 800)
    X = csr_array(np.where(chance.random((800, 5)) < 0.7, np.where(y, 1.0, 0.2)[:, None], 0).astype(np.float32))
    attack = ag.attacks.get("DS-A", epochs=15, random_state=0).fit(X[:600], y[:600])
    rated = np.diff(X[600:].indptr) > 0
    assert accuracy(attack, X[600:][rated], y[600:][rated]) > 0.98
    together = attack.predict_proba(X[600:])
    np.testing.assert_allclose(attack.predict_proba(X[[700]]), together[[100]], atol=1e-5)
    assert attack.predict_proba(X[:0]).shape == (0, 2)
    assert np.isfinite(attack.predict_proba(csr_array((2, 5)))).all()  # users without a rating


def test_naive_bayes_by_hand():
    X = csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.2]]))
    bayes = NaiveBayes(X, np.array([0, 0, 1, 1]), 2)
    share = (2 + 20 * 2.5 / 5) / 22  # of value 0's users with item 0, smoothed toward 2.5 of 5
    posterior = np.exp(bayes.infer(X[[0]]))[0]
    assert posterior[0] == pytest.approx(share**2 / (share**2 + (1 - share) ** 2))
    np.testing.assert_allclose(np.exp(bayes.infer(X)).sum(axis=1), 1)


def test_scores_out_of_fold_come_from_others():
    """A user whose item nobody else has: naive Bayes that learnt from him would know his value."""
    X = csr_array(np.eye(40, dtype=np.float32))
    codes = np.arange(40) % 2
    scores = out_of_fold(X, codes, 2, np.random.default_rng(0))
    assert (NaiveBayes(X, codes, 2).infer(X).argmax(axis=1) == codes).all()
    assert np.unique(scores.round(9), axis=0).shape[0] <= FOLDS  # all that is left is how many of each value a fold has


def test_weighed_naive_bayes_reads_what_is_missing_and_knows_how_sure_it_may_be():
    """Twenty copies of one item that only users of value 1 lack: naive Bayes alone counts them twenty times."""
    chance = np.random.default_rng(0)
    y = chance.integers(0, 2, 2000)
    lacks = chance.random(2000) < np.where(y, 0.7, 0.3)
    X = csr_array(np.where(lacks[:, None], 0.0, np.ones((2000, 20))).astype(np.float32))
    attack = ag.attacks.get("NB-A", random_state=0).fit(X[:1500], y[:1500])
    sure = attack.predict_proba(X[1500:])
    assert accuracy(attack, X[1500:], y[1500:]) == pytest.approx(0.7, abs=0.05)
    assert sure.max(axis=1).mean() == pytest.approx(0.7, abs=0.05)
    alone = np.exp(NaiveBayes(X[:1500], y[:1500], 2).infer(X[1500:]))
    assert alone.max(axis=1).mean() > 0.99


def test_the_most_telling_items_are_kept_in_their_order():
    X = csr_array(np.array([[0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 1, 0], [1, 0, 1, 0.0]]))
    assert most_telling(X, np.array([0, 0, 1, 1]), 2).tolist() == [0, 1]
    assert most_telling(X, np.array([0, 0, 1, 1]), 9).size == 4


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [("NB-A", "C", 0), ("GBM-A", "items", 0), ("GBM-A", "leaves", 1), ("GBM-A", "learning_rate", 0),
     ("DS-A", "width", 0), ("DS-A", "dropout", 1.0), ("LNN-A", "hidden", 0)],
)  # fmt: skip
def test_wrong_options_are_told_before_any_work(name, option, value):
    with pytest.raises(ParameterError, match=option):
        ag.attacks.get(name, **{option: value}).check_options()


# Self-training.


def test_the_surest_of_every_inferred_value():
    sure = np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3], [0.2, 0.8], [0.45, 0.55]])
    assert surest(sure, 0.5).tolist() == [0, 2, 3]
    assert surest(sure, 1.0).tolist() == [0, 1, 2, 3, 4]


def two_tastes(n, chance):
    """Each value likes its own half of forty items, three times as much as the other."""
    y = np.arange(n) % 2
    share = np.where(y[:, None] == (np.arange(40) < 20), 0.3, 0.1)
    return csr_array((chance.random((n, 40)) < share).astype(np.float32)), y


def test_one_with_few_users_learns_from_those_he_attacks():
    chance, plain = np.random.default_rng(0), ag.attacks.get("LR-A")
    own, (X, y) = two_tastes(10, chance), two_tastes(600, chance)
    attack = SelfTrained(plain).fit(*own)
    assert accuracy(attack, X, y) > accuracy(plain.untrained().fit(*own), X, y) + 0.04
    np.testing.assert_array_equal(attack.predict(X), attack.predict(X))  # nothing is kept of the attacked rows
    assert attack.predict_proba(X[:0]).shape == (0, 2)


def test_whoever_learns_from_the_batch_says_so(small_guard):
    plain = ag.attacks.get("LR-A")
    assert SelfTrained(plain).learns_from_batch
    assert Retrained(SelfTrained(plain), small_guard).learns_from_batch
    assert not Retrained(plain, small_guard).learns_from_batch
    assert not any(ag.attacks.class_of(name)().learns_from_batch for name in ag.attacks.names())
    for options in ({"rounds": 0}, {"share": 0.0}, {"share": 1.5}):
        with pytest.raises(ParameterError, match=next(iter(options))):
            SelfTrained(plain, **options).check_options()


# A guard of his own.


class Blank:
    """A guard that blanks the first item, and remembers whom it learnt from."""

    learnt: list = []  # noqa: RUF012

    def __init__(self, random_state=None):
        self.random_state = random_state

    def get_params(self, deep=True):
        return {"random_state": self.random_state}

    def set_params(self, random_state):
        self.random_state = random_state
        return self

    def fit(self, X, y, progress=None):
        self.users_ = set(X[:, [1]].toarray().ravel().tolist())  # item 1 holds an id
        return self

    def plan(self, X, budget=None):
        Blank.learnt.append((self.users_, set(X[:, [1]].toarray().ravel().tolist())))
        rows = X.toarray()
        rows[:, 0] = 0
        return SimpleNamespace(probabilities=np.ones((X.shape[0], 1)), release=lambda chance: csr_array(rows))


def test_nobody_is_protected_by_a_guard_that_learnt_from_him():
    n = 40
    ids = (np.arange(n) + 1) / n
    X, y = csr_array(np.column_stack([np.full(n, 0.5), ids]).astype(np.float32)), np.tile([3, 5], n // 2)
    Blank.learnt = []
    OwnGuard(Spy(), Blank(), draws=3, random_state=0).fit(X, y)
    (learnt, protected), (learnt_2, protected_2) = Blank.learnt
    assert not learnt & protected
    assert (learnt, protected) == (protected_2, learnt_2)
    assert len(learnt | protected) == n
    rows, codes = Spy.seen
    assert rows.shape == (n, 2)  # the guard leaves nothing to chance: every user is protected once
    assert not rows[:, 0].any()
    of = {np.float32(each): code for each, code in zip(ids, np.tile([0, 1], n // 2), strict=True)}
    assert all(of[each] == code for each, code in zip(rows[:, 1], codes, strict=True))
    OwnGuard(Spy(), Blank(), originals=True, random_state=0).fit(X, y)
    rows, codes = Spy.seen
    np.testing.assert_array_equal(rows[:n], X.toarray())
    assert rows.shape == (2 * n, 2)
    assert not rows[n:, 0].any()


def test_halves_have_as_many_of_every_value():
    codes = np.repeat([0, 1, 2], [7, 2, 20])
    half = halves(codes, np.random.default_rng(0))
    assert np.bincount(codes[half]).tolist() == [3, 1, 10]
    with pytest.raises(DataError, match="a single user"):
        halves(np.array([0, 0, 1]), np.random.default_rng(0))


class Swap(Blank):
    """A guard that swaps the ratings of two items."""

    def fit(self, X, y, progress=None):
        return self

    def plan(self, X, budget=None):
        return SimpleNamespace(probabilities=np.ones((X.shape[0], 1)), release=lambda chance: X[:, [1, 0]])


def test_a_guard_of_the_same_kind_tells_what_a_release_means():
    y = np.tile([0, 1], 30)
    X = csr_array(np.eye(2, dtype=np.float32)[y])
    plain = ag.attacks.get("LR-A")
    attack = OwnGuard(plain, Swap(), random_state=0).fit(X, y)
    assert accuracy(plain.untrained().fit(X, y), X[:, [1, 0]], y) == 0
    assert accuracy(attack, X[:, [1, 0]], y) == 1


@pytest.fixture(scope="module")
def groups():
    return three_groups(ag.load_dataset("twin", n_users=4000, n_items=600, n_values=6, seed=1), 0)


def test_a_guard_of_his_own_is_learnt_from_his_users(groups):
    theirs, own, test = groups
    kind, plain = ag.AttriGuard(search="panda"), ag.attacks.get("LR-A")
    z = clone(kind).fit(theirs.X, theirs.y).plan(test.X).release(0)
    attack = OwnGuard(plain, kind, draws=2, random_state=0).fit(own.X, own.y)
    assert not hasattr(kind, "learnt_")  # what was given is not changed
    assert accuracy(attack, z, test.y) > np.bincount(test.y).max() / test.n_users + 0.1
    assert attack.with_budget(2.0).get_params()["budget"] == 2.0
    assert attack.name == "LR-A with a guard of its own"
    again = clone(attack).fit(own.X, own.y)
    np.testing.assert_array_equal(again.predict(z), attack.predict(z))
    with pytest.raises(ParameterError, match="pass guard=AttriGuard"):
        OwnGuard(plain).check_options()


def test_draws_that_cannot_differ_are_made_once(groups):
    theirs, own, _ = groups
    guard = ag.AttriGuard(goal="conceal", members=1, random_state=0).fit(theirs.X, theirs.y)
    for budget, draws in ((2.0, 1), (1.5, 3)):
        Retrained(Spy(), guard, draws=3, budget=budget, random_state=0).fit(own.X, own.y)
        rows, codes = Spy.seen
        np.testing.assert_array_equal(codes, np.tile(own.y, draws))
        assert rows.shape[0] == own.n_users * draws
    nothing = RemovalInversion(ag.attacks.get("LR-A"), guard, budget=0.0, random_state=0).fit(own.X, own.y)
    np.testing.assert_allclose(np.exp(nothing.evidence(own.X[:3])), 1 / 6)  # nothing was removed: that tells nothing


# What was removed.

A, B, C, D, REST = range(5)


class Remover:
    """Removes item A from rows with item C and item B from rows with item D; the rest where there is neither."""

    classifier_ = None

    def plan(self, X, budget=None):
        rows = X.toarray()
        for row in rows:
            first = [item for item in ((A if row[C] else B), REST) if row[item]][:1]
            row[first] = 0
        edits = SimpleNamespace(apply=lambda X, choice: csr_array(rows))
        return SimpleNamespace(
            X=X, probabilities=np.ones((X.shape[0], 1)), edits=edits, release=lambda chance: csr_array(rows)
        )


def telling(n, seed):
    """Value 0 has item A, value 1 has item B; which of C and D a user has tells nothing."""
    chance = np.random.default_rng(seed)
    y, side = chance.integers(0, 2, (2, n))
    X = np.zeros((n, 5), dtype=np.float32)
    X[np.arange(n), np.where(y, B, A)] = X[np.arange(n), np.where(side, D, C)] = X[:, REST] = 1
    return csr_array(X), y


def test_where_removals_are_certain_the_value_is_recovered():
    X, y = telling(400, 0)
    rows, truth = telling(200, 1)
    z = Remover().plan(rows).release(None)
    plain = ag.attacks.get("LR-A")
    unaware = plain.untrained().fit(X, y).predict_proba(z)
    hidden = np.asarray(z[:, [A, B]].sum(axis=1)).ravel() == 0  # nothing that tells is left
    assert 0.3 < hidden.mean() < 0.7
    np.testing.assert_allclose(unaware[hidden], 0.5, atol=0.1)
    attack = RemovalInversion(plain, Remover(), share=1.0, random_state=0).fit(X, y)
    assert (attack.predict(z) == truth).all()
    # From a row with C only A can have gone, from a row with D only B.
    assert (attack.evidence(z)[hidden].argmax(axis=1) == truth[hidden]).all()
    assert attack._items.tolist() == [A, B, REST]
    assert attack._counts.tolist() == [0, 1]


def test_the_evidence_is_the_sum_over_all_sets():
    attack = RemovalInversion(ag.attacks.get("LR-A"), Remover(), random_state=0).fit(*telling(100, 0))
    chance = np.random.default_rng(3)
    attack._odds, attack._counts = chance.random((6, 2)), np.array([0.1, 0.0, 0.3, 0.6])
    can = chance.random((4, 6)) < 0.7
    attack._removable = lambda Z: can[: Z.shape[0]]
    found = np.exp(attack.evidence(csr_array((4, 5))))
    for row in range(4):
        sums = np.zeros(2)
        for k, share in enumerate(attack._counts):
            for chosen in combinations(np.flatnonzero(can[row]), k):
                sums += share * attack._odds[list(chosen)].prod(axis=0)
        np.testing.assert_allclose(found[row], sums / sums.sum())


def test_weights_go_to_what_tells():
    chance = np.random.default_rng(0)
    codes = chance.integers(0, 3, 2000)
    good = np.log(0.1 + 0.7 * np.eye(3)[codes])
    wrong = chance.random(2000) < 0.125  # as often as a calibrated attack that is so sure: 0.1 + 0.1 of 0.1 + 0.1 + 0.8
    good[wrong] = np.log(0.1 + 0.7 * np.eye(3)[(codes[wrong] + 1) % 3])
    noise = np.log(chance.dirichlet(np.ones(3), 2000))
    weights = agreeing_weights(np.stack([noise, good], axis=2), codes)
    assert weights[0] < 0.05
    assert 0.8 < weights[1] < 1.3


def test_weighing_what_was_removed_beats_not_knowing_and_retraining():
    """Where little is removed: there is more to weigh of what is missing than of what is left to learn."""
    theirs, own, test = three_groups(ag.load_dataset("twin", n_users=3000, n_items=2000, n_values=5, seed=2), 0)
    guard = ag.AttriGuard(goal="conceal", budget=2.0, members=2, random_state=0).fit(theirs.X, theirs.y)
    z = guard.plan(test.X).release(0)
    plain = ag.attacks.get("LR-A")
    attack = RemovalInversion(plain, guard, share=0.4, trials=100, random_state=0).fit(own.X, own.y)
    found = attack.predict(z)
    known = (found == test.y).mean()
    assert known > accuracy(plain.untrained().fit(own.X, own.y), z, test.y) + 0.01
    assert known > accuracy(Retrained(plain, guard, random_state=0).fit(own.X, own.y), z, test.y) + 0.01
    np.testing.assert_array_equal(attack.predict(z[5:9]), found[5:9])  # a user alone, or in a batch
    np.testing.assert_array_equal(clone(attack).fit(own.X, own.y).predict(z[:20]), found[:20])


def test_a_guard_that_does_both_is_inverted_too(groups):
    theirs, own, test = groups
    guard = ag.AttriGuard(goal="both", members=1, split=0.5, random_state=0).fit(theirs.X, theirs.y)
    z = guard.plan(test.X).release(0)
    attack = RemovalInversion(ag.attacks.get("LR-A"), guard, share=0.2, trials=30, random_state=0)
    attack.fit(own.X, own.y)
    assert clone(attack).guard is guard
    assert accuracy(attack, z, test.y) > np.bincount(test.y).max() / test.n_users + 0.1


def test_what_cannot_be_inverted_is_refused(small_guard):
    plain = ag.attacks.get("LR-A")
    with pytest.raises(ParameterError, match="one whose goal is 'mislead' mostly adds"):
        RemovalInversion(plain, small_guard).check_options()
    with pytest.raises(ParameterError, match="needs it: pass guard="):
        RemovalInversion(plain).check_options()
    with pytest.raises(ParameterError, match="share"):
        RemovalInversion(plain, Remover(), share=0.0).check_options()
    assert RemovalInversion(plain, Remover()).with_budget(1.0).get_params()["budget"] == 1.0


def test_an_attack_that_is_made_from_another_has_a_name(small_guard):
    made = ag.attacks.get("retrained(self-trained(MLP-A))", guard=small_guard, draws=2, rounds=1, random_state=3)
    assert isinstance(made, Retrained)
    assert (made.guard, made.draws, made.base.rounds) == (small_guard, 2, 1)
    assert made.random_state == made.base.base.random_state == 3
    assert made.name == "MLP-A self-trained retrained"
    assert ag.attacks.get("retrained(self-trained(LR-A))", guard=small_guard, random_state=3).random_state == 3
    assert ag.attacks.class_of("removal-inversion(LR-A)") is RemovalInversion
    first, second = ag.attacks.lineup(["LR-A", "own-guard( MLP-A )"], guard=small_guard, random_state=1, hidden=9)
    assert (first.name, second.base.random_state, second.guard) == ("LR-A", 1, small_guard)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("retrained(MLP-A", "written like retrained"),
        ("nonsense(MLP-A)", "unknown way to attack 'nonsense'; known: retrained"),
        ("retrained(nonsense)", "unknown attack 'nonsense'"),
        ("retrained()", "unknown attack ''"),
    ],
)
def test_a_name_that_is_none_is_refused(name, message):
    with pytest.raises(ParameterError, match=message):
        ag.attacks.get(name)
    with pytest.raises(ParameterError, match=message):
        ag.attacks.lineup([name])
