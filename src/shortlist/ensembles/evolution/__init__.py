"""Evolutionary ensemble learning: a population that covers the hard rows, and an ensemble chosen from it."""
