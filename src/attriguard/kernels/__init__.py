"""Numba functions on plain arrays: no validation, no randomness; each has a slow NumPy twin in `reference`."""
