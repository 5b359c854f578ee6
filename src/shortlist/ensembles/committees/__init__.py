"""Committees whose members are asked one after the other, until no missing answer can change the outcome."""
