"""Which point of the front predicts, and deciding rows stage by stage."""
