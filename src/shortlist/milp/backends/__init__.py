"""One file per solver; only that file imports it."""
