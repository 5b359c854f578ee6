"""Files of rows and named columns, in the formats that people have."""
