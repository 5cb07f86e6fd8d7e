"""Pairwise models: what they are, tables drawn from them, and their files."""

from isinglass.model.field import MarkovField
from isinglass.model.record import FitRecord

__all__ = ["FitRecord", "MarkovField"]
