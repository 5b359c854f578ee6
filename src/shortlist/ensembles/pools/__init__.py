"""Pools of classifiers to choose from, fitted here or elsewhere, with their answers."""
