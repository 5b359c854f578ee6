"""The systems that multi-stage classifiers are compared with, each with a reject and a price per row."""
