"""A representation of the front by reference points (SolRep)."""
