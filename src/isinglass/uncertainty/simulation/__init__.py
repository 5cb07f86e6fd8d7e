"""The whole analysis, repeated on tables drawn from a model like the table."""
