"""How many rows are needed, and how large a link must be."""
