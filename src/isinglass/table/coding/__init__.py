"""Cells to codes: labels, states, bins, and what becomes of missing values."""
