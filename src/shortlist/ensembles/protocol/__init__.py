"""Methods measured on tables: one split, cross-validation, and ranks."""
