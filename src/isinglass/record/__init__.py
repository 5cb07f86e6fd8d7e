"""The record of a fit: what was asked, what was found, every step on the way; as plain data."""
