"""Propositional clauses: propagation, satisfiability, presolve and decision diagrams."""
