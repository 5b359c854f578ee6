"""Fronts of committees: the non-dominated committees by several objectives."""
