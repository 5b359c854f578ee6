"""Commands `shortlist compare` and `shortlist reproduce`."""
