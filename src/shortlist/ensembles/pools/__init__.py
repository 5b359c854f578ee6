"""Pools of classifiers to choose from, fitted by Shortlist or by the user, with their answers."""
