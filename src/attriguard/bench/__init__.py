"""The speed figures, each a ratio of two timings taken in the same run: machines are noisy, ratios less so."""
