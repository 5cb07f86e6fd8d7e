"""The core's C++ tests pass, and are clean under sanitizers and valgrind."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


def run(script: str) -> None:
    done = subprocess.run([SCRIPTS / script], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="the script is written for a Unix shell")
def test_cpp_tests_pass():
    run("core-test")


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="valgrind is at home on Linux")
def test_sanitizers_find_nothing():
    run("sanitize")
