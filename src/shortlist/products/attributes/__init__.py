"""Numbers on features, exact: from files, from models, or drawn by seed."""
