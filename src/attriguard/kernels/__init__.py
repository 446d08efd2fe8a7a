"""Numba functions on plain arrays, which validate nothing and draw nothing at random.

Arrays come in and the caller's arrays are filled; most kernels work on a range of users or units, so that threads can
share the work. Every public kernel has a slow NumPy twin of the same name and parameters in `reference`, and
tests/kernels compares the two on random inputs; a kernel without a twin fails there.
"""
