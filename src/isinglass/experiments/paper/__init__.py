"""The experiment of the paper, and the command that repeats it."""
