"""Pruning rules for comparison: orders of classifiers, and margins."""
