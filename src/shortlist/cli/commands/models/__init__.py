"""Commands that make something of a feature model."""
