"""Phase II: which of the representative noises to add, with what probability."""
