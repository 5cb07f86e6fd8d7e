"""Algorithm 1 at every column of a table: the fast twin, and the readable one."""

from isinglass.engine.learn import learn_neighbourhoods
from isinglass.engine.runs import Choices, Paths, Progress, Runs, Worths

__all__ = ["Choices", "Paths", "Progress", "Runs", "Worths", "learn_neighbourhoods"]
