"""Parameters of a model on a known graph, and how sure they are."""
