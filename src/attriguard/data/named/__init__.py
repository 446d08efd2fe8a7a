"""Named data sets: the paper's, MovieLens, and the twin, which needs no file."""
