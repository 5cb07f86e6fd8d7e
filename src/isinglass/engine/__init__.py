"""Algorithm 1 at every node of a table."""

from isinglass.engine.neighbourhoods import Neighbourhood, learn_neighbourhoods

__all__ = ["Neighbourhood", "learn_neighbourhoods"]
