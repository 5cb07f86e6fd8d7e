"""Pairwise models: how they are fitted, asked, drawn from, and kept in files."""

from isinglass.model.field import MarkovField
from isinglass.model.fit.joint import fit_model
from isinglass.model.inference.answers import Answer, Answers, ask
from isinglass.model.inference.methods import Exact, Gibbs
from isinglass.record.fit_record import FitRecord

__all__ = ["Answer", "Answers", "Exact", "FitRecord", "Gibbs", "MarkovField", "ask", "fit_model"]
