"""What either side can learn: classifiers of the private attribute."""
