"""Questions about a product line and their fronts, with every point checked."""
