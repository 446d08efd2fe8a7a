"""Random small arguments for every kernel: empty rows, one user or none, ranges, more units than a tile holds."""

from __future__ import annotations

import numpy as np

from attriguard.kernels import reference
from attriguard.kernels.aims import LEAD, VALUE
from attriguard.noise.candidates import first_items

# What outputs hold before a call: a kernel that leaves a place out leaves this there.
UNTOUCHED = 77


def rows(rng, n, n_items, density=None):
    """indptr, indices, data of ratings on five levels."""
    density = rng.choice([0.0, 0.3, 0.6, 1.0]) if density is None else density
    rated = rng.random((n, n_items)) < density
    indptr = np.concatenate([[0], np.cumsum(rated.sum(axis=1))]).astype(np.int64)
    indices = np.nonzero(rated)[1].astype(np.int32)
    return indptr, indices, (rng.integers(1, 6, indices.size) / 5).astype(np.float32)


def span(rng, size):
    """All of it, or a part, which may be empty."""
    return (0, size) if rng.random() < 0.5 else tuple(int(end) for end in np.sort(rng.integers(0, size + 1, 2)))


def users(rng):
    return int(rng.choice([0, 1, 1, 3, 6]))


def untouched(shape, dtype):
    return np.full(shape, UNTOUCHED, dtype=dtype)


def normal(rng, shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


def adam(rng):
    size = int(rng.integers(0, 40))
    gradient, weights, first = (normal(rng, size) for _ in range(3))
    second = normal(rng, size) ** 2
    rate, decay, steps = rng.choice([1e-3, 0.1]), rng.choice([0.0, 1e-2]), int(rng.choice([1, 2, 50, 5000]))
    if steps == 1:
        first[:] = second[:] = 0
    return [gradient, rate, decay, steps, weights, first, second, *span(rng, size)]


def layer(rng, dtype=np.float32):
    """Rows, and the first layer of a network for them; sometimes wider than one tile."""
    n, n_items, hidden = users(rng), int(rng.integers(1, 12)), int(rng.choice([1, 9, 1030]))
    return rows(rng, n, n_items), normal(rng, (n_items, hidden), dtype), normal(rng, hidden, dtype), (n, hidden)


def bag(rng, weight, result):
    x, W, b, shape = layer(rng, weight)
    return [*x, W, b, untouched(shape, result), *span(rng, shape[1])]


def batch_forward(rng):
    x, W, b, shape = layer(rng)
    keep = rng.choice([1.0, 0.5, 0.01])
    dice = rng.integers(2**16 - 1, size=shape, dtype=np.uint16)
    return [*x, W, b, dice, keep * (2**16 - 1), 1 / keep, untouched(shape, np.float32), *span(rng, shape[1])]


def batch_update(rng):
    x, W1, b1, (n, hidden) = layer(rng)
    m = int(rng.integers(2, 5))
    active = np.maximum(normal(rng, (n, hidden)), 0)
    return [*x, active, normal(rng, (n, m)), 0.05, rng.choice([1.0, 2.0]), W1, b1, normal(rng, (hidden, m)),
            *span(rng, hidden)]  # fmt: skip


def conceal(rng):
    n, n_items, m = users(rng), int(rng.integers(1, 12)), int(rng.integers(2, 5))
    ends = np.concatenate([[0], np.cumsum(rng.integers(1, 9, int(rng.integers(1, 4))))])
    indptr, indices, data = rows(rng, n, n_items)
    pool = np.flatnonzero(rng.random(n_items) < rng.choice([0.0, 0.5, 1.0])).astype(np.int32)
    entry = (rng.integers(1, 6, pool.size) / 5).astype(np.float32)
    free = (rng.random(indices.size) < rng.choice([0.0, 0.7, 1.0])).astype(np.uint8)
    model = (
        normal(rng, (n_items, ends[-1])), normal(rng, ends[-1]), ends, normal(rng, (m, ends[-1])),
        normal(rng, (ends.size - 1, m)), shares(rng, ends.size - 1), shares(rng, m),
    )  # fmt: skip
    truth = rng.integers(-1, m, rng.choice([0, n]))
    most, price = int(rng.integers(0, n_items + 3)), float(rng.choice([-1.0, 0.05, 0.3]))
    tried = int(rng.choice([1, 2, 5, 100]))
    # Where ratings say more than they may of every value, all slopes vanish before the first change, and what promises
    # most is chance; then all changes are tried.
    guessed = 1.0 if tried < 100 else float(rng.choice([0.5, 0.85, 1.0]))
    out = (untouched(n, np.int64), untouched((n, most), np.int32), untouched((n, most), np.float32))
    given = [indptr, indices, data, free, pool, entry, *rows(rng, n, n_items, 0.2)[:2]]
    given += [*rows(rng, n if rng.random() < 0.5 else 0, n_items), *model]
    given += [truth, float(rng.choice([0.05, 1.0, 1.4])), guessed, tried, price]
    return [*given, *span(rng, n), *out, untouched((n, most + 1), np.float32)]


def shares(rng, n):
    """Positive numbers that add up to 1."""
    return rng.dirichlet(np.full(n, 5.0)).astype(np.float32)


def posterior(rng):
    n, n_items, m = users(rng), int(rng.integers(1, 12)), int(rng.integers(2, 9))
    ends = np.concatenate([[0], np.cumsum(rng.integers(1, 9, int(rng.integers(1, 4))))])
    model = [normal(rng, (n_items, ends[-1])), normal(rng, ends[-1]), ends, normal(rng, (m, ends[-1]))]
    rest = [normal(rng, (ends.size - 1, m)), shares(rng, ends.size - 1), *span(rng, n), untouched((n, m), np.float64)]
    return [*rows(rng, n, n_items), *model, *rest]


def edited(rng):
    """Rows, edits for m values of every user, and m. Some edits set an entry to 0 that is 0, or to what it is."""
    n, n_items, m = users(rng), int(rng.integers(1, 15)), int(rng.integers(1, 4))
    indptr, items, values = rows(rng, n * m, n_items)
    values[rng.random(values.size) < 0.4] = 0
    return rows(rng, n, n_items), (indptr, items, values), m


def merging(rng):
    x, edits, m = edited(rng)
    n = x[0].size - 1
    return [*x, *edits, np.arange(n) * m + rng.integers(0, m, n)], n


def merged_lengths(rng):
    given, n = merging(rng)
    return [*given, *span(rng, n), untouched(n, np.int64)]


def merge_rows(rng):
    given, n = merging(rng)
    # A place for every entry that a row could get, so that this test does not depend on the other kernel.
    most = int(max([0, *given[1], *given[4]])) + 1
    indptr = np.arange(n + 1) * most
    return [*given, *span(rng, n), indptr, untouched(n * most, np.int32), untouched(n * most, np.float32)]


def l2_costs(rng):
    x, edits, m = edited(rng)
    n = x[0].size - 1
    return [*x, *edits, m, *span(rng, n), untouched((n, m), np.float64)]


def find_entries(rng):
    n, n_items, wanted = int(rng.integers(1, 6)), int(rng.integers(1, 15)), int(rng.integers(0, 40))
    indptr, indices, _ = rows(rng, n, n_items)
    asked = rng.integers(0, n, wanted), rng.integers(-1, n_items + 1, wanted)
    if rng.random() < 0.5:  # in the order of the matrix, as the rows of a table often are
        order = np.lexsort(asked[::-1])
        asked = tuple(part[order] for part in asked)
    values = rng.integers(-1, 6, indices.size).astype(np.int32)
    found, met = untouched(wanted, np.int32), np.zeros(indices.size, dtype=np.bool_)
    return [indptr, indices, values, *asked, *span(rng, wanted), found, met]


def compare_rows(rng):
    n, n_items, more = users(rng), int(rng.integers(1, 15)), int(rng.integers(0, 5))
    column = rng.choice(n_items + more, n_items, replace=False).astype(np.int64)
    if rng.random() < 0.5:  # both catalogues in one order, as they mostly are
        column.sort()
    column[rng.random(n_items) < 0.1] = -1
    old, now = rows(rng, n, n_items), rows(rng, n, n_items + more)
    result = untouched(old[1].size, np.int32), untouched(now[1].size, np.int32), untouched(now[1].size, np.bool_)
    return [*old, column, *now, 5, *span(rng, n), *result]


def sum_ranges(rng):
    n, n_items = users(rng), int(rng.integers(1, 15))
    indptr, indices, _ = rows(rng, n, n_items)
    number = rng.integers(0, 6, indices.size).astype(np.int32)
    factor = rng.integers(0, 2**64, n_items, dtype=np.uint64)
    return [factor, indices, number, indptr[:-1].copy(), indptr[1:].copy(), *span(rng, n), untouched(n, np.uint64)]


def find_rising(rng):
    n, wanted = int(rng.integers(0, 12)), int(rng.integers(0, 20))
    among, asked = np.sort(rng.choice(30, n, replace=False)), np.sort(rng.integers(-2, 32, wanted))
    return [among.astype(np.int64), asked, *span(rng, wanted), untouched(wanted, np.int64)]


def mark_new(rng):
    n, n_items = users(rng), int(rng.integers(1, 15))
    old, (indptr, indices, _) = rows(rng, n, n_items), rows(rng, n, n_items)
    return [indptr, indices, *old[:2], *span(rng, n), untouched(indices.size, np.bool_)]


def md5_numbers(rng):
    n = users(rng)
    ends = np.concatenate([[0], np.cumsum(rng.integers(0, 150, n))])
    prefix, text = (rng.integers(0, 256, size).astype(np.uint8) for size in (rng.integers(0, 70), ends[-1]))
    return [prefix, text, ends, *span(rng, n), untouched(n, np.uint64)]


def bounds(rng, n_items):
    """What added entries may rise to, and whether they do so at once."""
    jump = rng.random() < 0.3
    upper = rng.integers(0, 6, n_items) / 5 if jump else np.ones(n_items)
    upper = upper.astype(np.float32).astype(np.float64)
    upper[rng.random(n_items) < 0.15] = -1
    return upper, jump


def ranked_lists(rng, W, upper, aim):
    """Items by gain for C_i alone; in any order where rivals count, with bounds; cut to a length."""
    m, addable = W.shape[1], np.flatnonzero(upper > 0)
    length = int(rng.choice([0, min(1, addable.size), min(3, addable.size), addable.size]))
    if aim == VALUE:
        order = [addable[np.argsort(-upper[addable] * W[addable, i], kind="stable")][:length] for i in range(m)]
    else:
        order = [rng.permutation(addable)[:length] for _ in range(m)]
    items = np.array(order, dtype=np.int32).reshape(m, length)
    bounds = np.empty((m, length + 1, m))
    reference.bound_gains(W, upper, items, bounds, 0, m)
    heads = first_items(W, upper, items, bounds[:, length]) if rng.random() < 0.7 else np.empty((m, m, 0), np.int32)
    return heads, items, bounds, length == addable.size


def bound_gains(rng):
    n_items, m = int(rng.integers(1, 15)), int(rng.integers(2, 5))
    W, upper = rng.normal(size=(n_items, m)), bounds(rng, n_items)[0]
    _, items, _, _ = ranked_lists(rng, W, upper, LEAD)
    return [W, upper, items, untouched((m, items.shape[1] + 1, m), np.float64), *span(rng, m)]


def greedy(rng):
    n, n_items, m = users(rng), int(rng.integers(1, 15)), int(rng.integers(2, 5))
    W, b = rng.normal(size=(n_items, m)), rng.normal(size=m)
    if rng.random() < 0.4:  # few distinct weights, so that equal gains are common
        W, b = np.round(W), np.round(b)
    upper, jump = bounds(rng, n_items)
    modify, add = ((True, False), (False, True), (True, True))[rng.integers(3)]
    aim, extend = int(rng.integers(4)), bool(rng.integers(2))
    options = (modify, add, aim, rng.choice([1.0, 1.25, 2.0]), bool(rng.integers(2)), extend,
               rng.choice([1.0, 0.5, 0.2, 0.07]), int(rng.choice([0, 1, 5])),
               rng.choice([0.0, 0.5, 3.0], n), int(rng.choice([0, 2, 10_000])))  # fmt: skip
    lists = ranked_lists(rng, W, upper, aim)
    room = int(rng.choice([2, 10, n * m * n_items]))
    return [*rows(rng, n, n_items), *rows(rng, n, n_items, 0.2)[:2], W, b, upper, jump, *lists, *options,
            *span(rng, n), untouched((n, m), np.int32), untouched((n, m), np.uint8), untouched(room, np.int32),
            untouched(room, np.float32)]  # fmt: skip


def kkt(rng):
    n, m = users(rng), int(rng.integers(1, 7))
    p = rng.dirichlet(np.ones(m)) if rng.random() < 0.5 else rng.integers(0, 4, m) + 0.0
    p = p / p.sum() if p.sum() else np.eye(m)[0]
    cost = rng.choice([0, 0, 1, 2, 3, 8, 0.37, 21.5], (n, m))
    cost[rng.random((n, m)) < rng.choice([0.0, 0.3])] = np.inf
    cost[np.arange(n), rng.integers(0, m, n)] = 1.0  # every user has a value within reach
    most = np.where(np.isfinite(cost), cost, 0).max(axis=1, initial=0)
    least = cost.min(axis=1, initial=np.inf)
    return [p, cost, least + rng.choice([0, 0.1, 0.6, 1], n) * (most - least), *span(rng, n), untouched((n, m), float)]


def network(rng, n_items):
    """Weights, first and second moments, and the step at which each item's row was last moved; all after `steps`."""
    hidden, m, steps = int(rng.integers(1, 9)), int(rng.integers(2, 5)), int(rng.integers(1, 40))
    shapes = [(n_items, hidden), (hidden,), (hidden, m), (m,)]
    weights, first = ([normal(rng, shape) for shape in shapes] for _ in range(2))
    second = [normal(rng, shape) ** 2 + np.float32(0.1) for shape in shapes]
    return weights, first, second, rng.integers(0, steps + 1, n_items), steps


def train_epoch(rng):
    n, n_items = users(rng), int(rng.integers(1, 12))
    weights, first, second, last, steps = network(rng, n_items)
    hidden, m = weights[2].shape
    codes, order = rng.integers(0, m, n), rng.permutation(n)
    dice = rng.integers(0, 256, (n, hidden)).astype(np.uint8)
    zeros = np.zeros((n_items, hidden), np.float32)
    how = [int(rng.choice([64, 128, 256])), int(rng.integers(1, 5)), 0.002, float(rng.choice([0.0, 1e-3])), steps]
    return [*rows(rng, n, n_items), codes, order, dice, *how, *weights, *first, *second, last, zeros]


def finish_rows(rng):
    weights, first, second, last, steps = network(rng, int(rng.integers(1, 12)))
    return [steps, 0.002, weights[0], first[0], second[0], last]


def priced(rng):
    p, cost, _, start, stop, M = kkt(rng)
    return [p, cost, float(rng.choice([0.0, 1e-3, 0.3, 7.0, 1e6])), start, stop, M]


def hull(rng):
    n, most = users(rng), int(rng.integers(0, 9))
    leakage = np.abs(rng.normal(size=(n, most + 1))).astype(np.float32)
    if rng.random() < 0.5:
        leakage = np.round(leakage * 4) / 4  # equal slopes
    found = rng.integers(0, most + 1, n)
    return [leakage.astype(np.float32), found, *span(rng, n), untouched((n, most), np.float32)]


def pairs_of(rng, n):
    """Some of n pairs, in their order."""
    return np.flatnonzero(rng.random(n) < rng.choice([0.5, 1.0]))


def moves(rng, number):
    n, n_items, m = max(1, users(rng)), int(rng.integers(1, 12)), int(rng.integers(2, 4))
    who = np.repeat(np.arange(n), m)
    start = (rng.integers(0, 6, (n, n_items)) / 5 * (rng.random((n, n_items)) < 0.6)).astype(np.float32)
    fixed = rng.random((n, n_items)) < 0.2
    gradient = normal(rng, (n * m, n_items), number)
    gradient = np.sign(np.round(gradient)) if rng.random() < 0.4 else gradient  # equal gains
    upper, jump = bounds(rng, n_items)
    # Pairs in the middle of a search: own entries have moved either way, added ones up.
    way = rng.choice(np.array([-1, 0, 1], np.int8), (n * m, n_items))
    way[start[who] == 0] = np.abs(way[start[who] == 0])
    way[fixed[who]] = 0
    now = np.where(way != 0, rng.integers(0, 6, way.shape) / 5, start[who]).astype(np.float32)
    modify, add = ((True, False), (False, True), (True, True))[rng.integers(3)]
    pairs = pairs_of(rng, n * m)
    return [pairs, who, gradient, start, fixed, upper, jump, modify, add, bool(rng.integers(2)),
            rng.choice([1.0, 0.5, 0.07]), int(rng.choice([0, 1, 5])), now, way,
            untouched(n * m, np.int64), untouched(n * m, np.float64), *span(rng, pairs.size)]  # fmt: skip


def change_entries(rng, number):
    n, n_items, hidden, m = users(rng), int(rng.integers(1, 9)), int(rng.choice([1, 9, 520])), int(rng.integers(2, 5))
    pairs = pairs_of(rng, n)
    return [pairs, rng.integers(0, n_items, n), rng.normal(size=n), normal(rng, (n_items, hidden), number),
            normal(rng, (hidden, m), number), normal(rng, m, number), rng.normal(size=(n, hidden)),
            untouched((n, m), np.float64), *span(rng, pairs.size)]  # fmt: skip


def switches(rng):
    """Pairs, pre-activations and the units that were on before; some pre-activations are exactly 0."""
    n, hidden = users(rng), int(rng.integers(1, 9))
    pre = rng.normal(size=(n, hidden)) * (rng.random((n, hidden)) < 0.9)
    return pairs_of(rng, n), pre, (rng.random((n, hidden)) < 0.5).astype(np.uint8)


def count_switched(rng):
    pairs, pre, mask = switches(rng)
    return [pairs, pre, mask, untouched(pre.shape[1] + 1, np.int64)]


def unit_starts(pairs, pre, mask):
    """Where each unit's list of switched pairs starts, and the end of the last."""
    switched = (pre[pairs] > 0) != (mask[pairs] != 0)
    return np.concatenate([[0], np.cumsum(switched.sum(axis=0))])


def list_switched(rng, number):
    pairs, pre, mask = switches(rng)
    m, starts = int(rng.integers(2, 5)), unit_starts(pairs, pre, mask)
    return [pairs, normal(rng, (pre.shape[0], m), number), pre, normal(rng, (pre.shape[1], m), number), mask,
            starts[:-1].copy(), untouched(starts[-1], np.int32), untouched(starts[-1], number)]  # fmt: skip


def add_units(rng, number):
    n, n_items = users(rng), int(rng.choice([1, 9, 260]))
    lengths = rng.integers(0, n + 1, int(rng.integers(1, 9)))
    ends = np.concatenate([[0], np.cumsum(lengths)])
    where = np.concatenate([rng.choice(n, size, replace=False) if n else [] for size in lengths]).astype(np.int32)
    return [ends, where, normal(rng, ends[-1], number), normal(rng, (lengths.size, n_items), number),
            normal(rng, (n, n_items), number), *span(rng, n_items)]  # fmt: skip


def texts(rng):
    """A prefix and texts behind it, which end in any place of a block of 136 bytes, and words of several blocks."""
    prefix = rng.integers(0, 256, int(rng.choice([0, 57, 135, 136, 200])), dtype=np.uint8)
    lengths = rng.integers(0, rng.choice([1, 12, 300]), int(rng.choice([0, 1, 7, 8, 30])))
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    text = rng.integers(0, 256, ends[-1], dtype=np.uint8)
    words = untouched((lengths.size, int(rng.choice([0, 1, 17, 18, 40]))), np.uint64)
    return [prefix, text, ends, *span(rng, lengths.size), words]
