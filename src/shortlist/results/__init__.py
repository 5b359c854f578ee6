"""Answers of every method: fronts, selections, proofs, and the pick of one point."""
