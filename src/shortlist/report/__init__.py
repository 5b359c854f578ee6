"""Every result as one self-contained HTML page."""
