"""Fronts of committees: which members, where several things matter at once."""
