"""Pruning rules: orders of classifiers, and which prefix is kept."""
