"""Work that is ended while its process is only being started."""

import asyncio
import signal

import pytest

from isinglass.desk import jobs


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
@pytest.mark.parametrize("end", ["kill", "stop"])
def test_it_ends_as_soon_as_it_has_started(tmp_path, monkeypatch, end):
    monkeypatch.setattr(jobs, "COMMAND", ("sleep", "60"))

    async def run():
        job = jobs.Job("learn", [], tmp_path)
        assert job._process is None
        if end == "kill":
            job.kill()
            await asyncio.wait_for(job.ended.wait(), 20)
        else:
            await asyncio.wait_for(job.stop(), 20)
        return job.state, job._process.returncode, job.sentences

    expected = signal.SIGKILL if end == "kill" else signal.SIGTERM
    assert asyncio.run(run()) == ("stopped", -expected, [])
