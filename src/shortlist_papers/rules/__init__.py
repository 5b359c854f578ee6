"""Pruning rules for comparison: orders of classifiers, and selection by margins."""
