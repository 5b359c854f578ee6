"""Classifiers of feature subsets, one per subset, and their decisions on every row."""
