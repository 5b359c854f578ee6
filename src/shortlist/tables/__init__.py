"""Tables: files of rows and named columns, in common formats."""
