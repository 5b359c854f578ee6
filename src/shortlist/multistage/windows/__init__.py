"""Stage assignments of wide tables: exact within windows of features, and nothing proved beyond them."""
