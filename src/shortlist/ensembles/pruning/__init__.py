"""Exact pruning of votes and of probabilities: the engines for search and proof, and their order."""
