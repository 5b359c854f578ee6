"""The papers' experiments, run again: what a paper reports beside what comes out here."""
