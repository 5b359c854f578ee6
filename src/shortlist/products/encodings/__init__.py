"""Feature models as clauses and as inequalities."""
