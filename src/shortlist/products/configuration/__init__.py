"""From a question about a product line to its front, every point checked."""
