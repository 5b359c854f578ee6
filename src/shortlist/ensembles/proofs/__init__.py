"""Proofs about a selection: rows with forms, the best one so far, bounds and certificates."""
