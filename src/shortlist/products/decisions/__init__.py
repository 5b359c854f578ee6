"""Deciding features one by one: what follows and why, what is left, and files of decisions in stages."""
