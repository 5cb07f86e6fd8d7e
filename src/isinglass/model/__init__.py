"""Pairwise models: how they are fitted, asked, drawn from, and kept in files."""

from isinglass.model.answers import Answer, Answers, ask
from isinglass.model.field import MarkovField
from isinglass.model.fit import fit_model
from isinglass.model.record import FitRecord

__all__ = ["Answer", "Answers", "FitRecord", "MarkovField", "ask", "fit_model"]
