"""How hypothesis draws its cases: the same in every `make test`, fresh ones in the long run."""

from hypothesis import settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("fresh", deadline=None)
settings.load_profile("repeatable")
