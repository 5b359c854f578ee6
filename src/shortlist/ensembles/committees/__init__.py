"""Committees that are asked one member after the other, until the outcome cannot change any more."""
