"""Progress is told, Ctrl-C is answered, and a callback may stop the work."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from isinglass.engine.native import learn_native
from isinglass.table import encode

# Minutes of work: every column takes all the others, with a cell for each row.
LONG_FIT = """
import sys
import numpy as np
from isinglass.engine.native import learn_native
from isinglass.table import encode

table = encode(np.random.default_rng(0).integers(0, 2, size=(6000, 80)))
small = encode(np.random.default_rng(0).integers(0, 2, size=(100, 5)))
settings = dict(nu=0.5, intercept=True, max_degree=None, threads=int(sys.argv[1]))

def progress(done, total):
    if not progress.told:
        print("started", flush=True)
    progress.told = True

progress.told = False
try:
    learn_native(table, 1e-9, progress=progress, **settings)
    print("finished")
except KeyboardInterrupt:
    learn_native(small, 1e-3, progress=None, **settings)
    print("interrupted, and still at work")
"""


def learn(p=30, n=300, threads=2, progress=None, threshold=0.002):
    table = encode(np.random.default_rng(1).integers(0, 2, size=(n, p)))
    rest = {"nu": 0.5, "intercept": True, "max_degree": None}
    return learn_native(table, threshold, threads=threads, progress=progress, **rest)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c(threads):
    command = [sys.executable, "-c", LONG_FIT, threads]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "started\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert said == "interrupted, and still at work\n"
    assert process.returncode == 0
    assert time.monotonic() - sent < 15  # about a second on a machine with nothing else to do


class Stop(Exception):
    pass


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("when", [1, 2])
def test_an_exception_of_the_callback_comes_back(threads, when):
    calls = []

    def progress(done, total):
        calls.append(done)
        if len(calls) == when:
            raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        learn(p=100, n=3000, threads=threads, progress=progress, threshold=2e-4)
    assert len(calls) == when


@pytest.mark.parametrize("threads", [1, 3])
def test_progress(threads):
    told = []
    learn(p=40, n=4000, threads=threads, progress=lambda done, total: told.append((done, total)))
    done = [d for d, _ in told]
    assert {total for _, total in told} == {40}
    assert done == sorted(done)
    assert 0 <= done[0] <= done[-1] == 40


def test_progress_does_not_change_the_answer():
    silent, told = learn().flat, learn(progress=lambda done, total: None).flat
    for name, values in silent.items():
        np.testing.assert_array_equal(values, told[name], err_msg=name)
