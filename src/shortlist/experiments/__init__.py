"""Methods side by side on one problem, and the tables of papers."""
