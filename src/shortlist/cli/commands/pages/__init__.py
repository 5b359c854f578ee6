"""Commands that make pages of results."""
