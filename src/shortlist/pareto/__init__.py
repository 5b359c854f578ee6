"""Dominance between integer vectors, and indicators of the quality of a front."""
