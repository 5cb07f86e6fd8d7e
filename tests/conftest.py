"""What holds for all tests: how hypothesis draws its cases, and that Ctrl-C is heard."""

import signal

import pytest
from hypothesis import settings

# The same cases in every `make test`, fresh ones in the long run.
# How long an example takes says more about the machine than about the code.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("fresh", deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard():
    """Ctrl-C interrupts tests, and programs they start, in the background of a script as well.

    A shell without job control starts such work with SIGINT ignored, and Python leaves it so.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
