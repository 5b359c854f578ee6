"""Opponents of multi-stage classifiers, each with a reject and a price per row."""
