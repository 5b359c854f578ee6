"""Selective answers: a classifier answers only so far that enough answers are right, with confidence."""
