"""Every public kernel computes what its NumPy twin computes; a kernel without a twin or a line in the table fails."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

import kernel_cases as cases
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.dispatcher import Dispatcher

import attriguard.kernels
from attriguard.kernels import reference

SINGLE, DOUBLE = np.float32, np.float64


@dataclass(frozen=True)
class Comparison:
    """How a kernel is compared with its twin."""

    arguments: Callable[..., list]  # (rng, *types) → random arguments
    tolerance: float  # of floats, relative and absolute; whole numbers must be equal
    types: tuple[tuple[type, ...], ...] = ((),)  # what ``arguments`` takes besides, once for every signature


NUMBERS = ((SINGLE,), (DOUBLE,))
TABLE = {
    "adam.adam_step": Comparison(cases.adam, 1e-5),
    "additions.bound_gains": Comparison(cases.bound_gains, 0),
    "bag.bag_forward": Comparison(cases.bag, 1e-5, ((SINGLE, SINGLE), (SINGLE, DOUBLE), (DOUBLE, DOUBLE))),
    "bag.batch_forward": Comparison(cases.batch_forward, 1e-4),  # results are scaled by up to 100
    "bag.batch_update": Comparison(cases.batch_update, 1e-5),
    "conceal.conceal_rows": Comparison(cases.conceal, 1e-5),
    "conceal.posterior_rows": Comparison(cases.posterior, 1e-6),
    "edits.merged_lengths": Comparison(cases.merged_lengths, 0),
    "edits.merge_rows": Comparison(cases.merge_rows, 0),
    "edits.l2_costs": Comparison(cases.l2_costs, 1e-14),
    "entries.compare_rows": Comparison(cases.compare_rows, 0),
    "entries.find_entries": Comparison(cases.find_entries, 0),
    "entries.sum_ranges": Comparison(cases.sum_ranges, 0),
    "entries.find_rising": Comparison(cases.find_rising, 0),
    "entries.mark_new": Comparison(cases.mark_new, 0),
    "greedy.greedy_search": Comparison(cases.greedy, 0),
    "hull.hull_gains": Comparison(cases.hull, 1e-6),
    "kkt.priced_rows": Comparison(cases.priced, 1e-9),
    "kkt.solve_rows": Comparison(cases.kkt, 1e-9),
    "md5.md5_numbers": Comparison(cases.md5_numbers, 0),
    "members.finish_rows": Comparison(cases.finish_rows, 1e-4),
    "members.train_epoch": Comparison(cases.train_epoch, 1e-4),
    "moves.best_moves": Comparison(cases.moves, 0, NUMBERS),
    "shake.shake_words": Comparison(cases.texts, 0),
    "units.change_entries": Comparison(cases.change_entries, 1e-12, NUMBERS),
    "units.count_switched": Comparison(cases.count_switched, 0),
    "units.list_switched": Comparison(cases.list_switched, 1e-5, NUMBERS),
    "units.add_units": Comparison(cases.add_units, 1e-5, NUMBERS),
}
VARIANTS = [
    pytest.param(name, types, id="-".join([name, *(kind.__name__ for kind in types)]))
    for name, comparison in TABLE.items()
    for types in comparison.types
]


def public_kernels():
    """Name → kernel: all compiled functions of the package that other modules may call."""
    found, prefix = {}, f"{attriguard.kernels.__name__}."
    for module in pkgutil.walk_packages(attriguard.kernels.__path__, prefix):
        if module.name.startswith(reference.__name__):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Dispatcher) and value.__module__ == module.name and not name.startswith("_"):
                found[f"{module.name.removeprefix(prefix)}.{name}"] = value
    return found


def twin_of(name):
    module, _, function = name.partition(".")
    return getattr(importlib.import_module(f"{reference.__name__}.{module}"), function, None)


def test_every_public_kernel_is_in_the_table():
    assert set(public_kernels()) == set(TABLE)


@pytest.mark.parametrize("name", sorted(public_kernels()))
def test_the_twin_has_the_kernels_name_and_parameters(name):
    kernel, twin = public_kernels()[name], twin_of(name)
    assert twin is not None, f"{name} has no twin in {reference.__name__}"
    assert list(inspect.signature(twin).parameters) == list(inspect.signature(kernel.py_func).parameters)
    assert getattr(reference, twin.__name__) is twin


@pytest.mark.parametrize("name", TABLE)
def test_every_signature_is_compared(name):
    assert len(public_kernels()[name].nopython_signatures) == len(TABLE[name].types)


@pytest.mark.parametrize(("name", "types"), VARIANTS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=100)
def test_a_kernel_computes_what_its_twin_computes(name, types, seed):
    comparison = TABLE[name]
    arguments = comparison.arguments(np.random.default_rng(seed), *types)
    expected = [part.copy() if isinstance(part, np.ndarray) else part for part in arguments]
    kernel = public_kernels()[name]
    result, wanted = kernel(*arguments), twin_of(name)(*expected)
    assert result == wanted
    parameters = inspect.signature(kernel.py_func).parameters
    filled = dict(zip(parameters, arguments, strict=True))
    hoped = dict(zip(parameters, expected, strict=True))
    if name == "greedy.greedy_search":
        filled, hoped = promised(filled, result), promised(hoped, wanted)
    for part, value in filled.items():
        if isinstance(value, np.ndarray):
            tolerance = comparison.tolerance if value.dtype.kind == "f" else 0
            np.testing.assert_allclose(value, hoped[part], rtol=tolerance, atol=tolerance, err_msg=part)


def promised(arguments, result):
    """What the greedy search promises: nothing of a user that did not fit into the buffers, nor of their rest."""
    done, used = result
    rest = arguments["stop"]
    kept = {part: np.concatenate([arguments[part][:done], arguments[part][rest:]]) for part in ("counts", "flags")}
    return {**arguments, **kept, **{part: arguments[part][:used] for part in ("items", "values")}}
