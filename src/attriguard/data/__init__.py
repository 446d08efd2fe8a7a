"""Public data: the frozen value, its readers and writers, and the named data sets."""
