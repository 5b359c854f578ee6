"""Tabu searches for good selections."""
