"""Fronts of questions about a product line, every point checked."""
