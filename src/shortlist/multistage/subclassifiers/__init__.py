"""One classifier per feature subset, and its decision on every row."""
