"""Selective answers: a classifier leaves rows open so that, with confidence, enough answers are right."""
