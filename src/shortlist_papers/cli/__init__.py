"""The commands `shortlist compare` and `shortlist reproduce`."""
