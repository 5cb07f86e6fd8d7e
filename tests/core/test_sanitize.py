"""The core's C++ tests are clean under sanitizers and valgrind."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "sanitize"


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="valgrind is at home on Linux")
def test_sanitizers_find_nothing():
    done = subprocess.run([SCRIPT], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
