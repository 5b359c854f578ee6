"""Feature models as files: one writer for each format."""
