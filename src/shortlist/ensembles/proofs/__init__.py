"""Proofs about a selection: rows as linear forms, the best selection so far, bounds and certificates."""
