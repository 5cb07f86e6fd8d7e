"""Answers of a model: probabilities, draws, completed rows."""
