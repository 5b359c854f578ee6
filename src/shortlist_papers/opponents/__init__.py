"""Opponents of multi-stage classifiers, each with a reject option and a price per row."""
