"""One classifier per feature subset, and what each decides on every row."""
