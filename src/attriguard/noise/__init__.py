"""Phase I: for every value of the attribute, the smallest noise that makes the classifier infer it."""
