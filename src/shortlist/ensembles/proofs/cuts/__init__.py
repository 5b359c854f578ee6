"""Rows that cannot all be right, and the bound that they give."""
