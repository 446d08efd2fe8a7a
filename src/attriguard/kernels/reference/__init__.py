"""Slow NumPy twins of the kernels: they say what the kernels must compute, and the tests compare the two.

Each file here stands for the kernel file of the same name, and holds a function of the same name and parameters for
every public kernel of it. The twins look at every entry, on dense rows or dictionaries, and most of them calculate in
double precision. Nothing but tests calls them.
"""

from __future__ import annotations

from attriguard.kernels.reference.adam import adam_step
from attriguard.kernels.reference.additions import bound_gains
from attriguard.kernels.reference.bag import bag_forward, batch_forward, batch_update
from attriguard.kernels.reference.conceal import conceal, conceal_rows, posterior_rows
from attriguard.kernels.reference.edits import apply_edits, l2_cost, l2_costs, merge_rows, merged_lengths
from attriguard.kernels.reference.entries import compare_rows, find_entries, find_rising, mark_new, sum_ranges
from attriguard.kernels.reference.greedy import attempts, greedy_search, mixed_slope, rival_of, run_on, search_pair
from attriguard.kernels.reference.hull import hull_gains
from attriguard.kernels.reference.kkt import priced_row, priced_rows, solve_row, solve_rows
from attriguard.kernels.reference.md5 import md5_numbers
from attriguard.kernels.reference.members import finish_rows, train_epoch
from attriguard.kernels.reference.moves import GreedyOptions, best_move, best_moves
from attriguard.kernels.reference.shake import shake_words
from attriguard.kernels.reference.units import add_units, change_entries, count_switched, list_switched

__all__ = [
    "GreedyOptions",
    "adam_step",
    "add_units",
    "apply_edits",
    "attempts",
    "bag_forward",
    "batch_forward",
    "batch_update",
    "best_move",
    "best_moves",
    "bound_gains",
    "change_entries",
    "compare_rows",
    "conceal",
    "conceal_rows",
    "count_switched",
    "find_entries",
    "find_rising",
    "finish_rows",
    "greedy_search",
    "hull_gains",
    "l2_cost",
    "l2_costs",
    "list_switched",
    "mark_new",
    "md5_numbers",
    "merge_rows",
    "merged_lengths",
    "mixed_slope",
    "posterior_rows",
    "priced_row",
    "priced_rows",
    "rival_of",
    "run_on",
    "search_pair",
    "shake_words",
    "solve_row",
    "solve_rows",
    "sum_ranges",
    "train_epoch",
]
