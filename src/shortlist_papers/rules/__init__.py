"""Pruning rules that are compared: orders of classifiers, and margins."""
