"""What commands make of their options before they work."""
