"""Exact pruning of votes and of probabilities: the engines that search and prove, and their order."""
