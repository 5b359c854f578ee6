"""Selective answers: a classifier answers only so that enough answers are right, with confidence."""
