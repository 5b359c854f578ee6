"""Checking certificates: slow, plain, and apart from everything that made them."""
