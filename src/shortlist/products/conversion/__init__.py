"""Feature models in other formats, with a proof that the products are the same."""
