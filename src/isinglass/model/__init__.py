"""Pairwise models: what they are, and tables drawn from them."""

from isinglass.model.field import MarkovField

__all__ = ["MarkovField"]
