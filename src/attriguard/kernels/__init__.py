"""Numba functions on plain arrays, which validate nothing and draw nothing at random.

Arrays come in and the caller's arrays are filled; most kernels work on a range of users or units, so that threads can
share the work. Every public kernel has a slow NumPy twin of the same name and parameters in `reference`, and
tests/kernels compares the two on random inputs; a kernel without a twin fails there.

Kernels are compiled when they are first used on a machine, while a person waits. So an array is copied into another by
a loop: `row[:] = other` also compiles the text of its error message, for two seconds.
"""
