"""The search on other rows of the same table."""
