"""Products drawn from a product line: uniformly, so that all interactions occur, or far apart."""
