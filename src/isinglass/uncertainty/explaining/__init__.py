"""Why there is an edge or none, pair by pair, and whether pairs are enough."""
