"""Feature models as plain data, with their formulas."""
