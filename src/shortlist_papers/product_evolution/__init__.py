"""Evolution of configurations."""
