"""Files of rows and named columns, in common formats."""
