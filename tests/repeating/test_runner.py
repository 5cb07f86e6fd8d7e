"""One runner: what is missing is done, what failed is tried again, what is there is kept."""

import json

import pytest

import isinglass as ig
from isinglass.repeating import RECORDS, Task, repeat

KEYS = [f"coin/{at}" for at in range(5)]


def tasks(done, fails=()):
    """One task per key; `done` notes those that are made."""

    def make(key):
        done.append(key)
        if key in fails:
            raise ValueError("tails\nand more")
        return {"side": len(key)}

    return [Task.single(key, lambda key=key: make(key)) for key in KEYS]


@pytest.mark.parametrize("processes", [False, True])
def test_what_is_there_is_not_done_again(processes, tmp_path):
    path = tmp_path / "coins.jsonl"
    done = []
    settings = {"work": "coins", "path": path, "n_jobs": 1, "processes": processes}
    first = repeat(tasks(done)[:3], **settings)
    again = repeat(tasks(done), **settings)
    assert sorted(done) == KEYS
    assert list(again) == KEYS
    assert again[KEYS[0]] == first[KEYS[0]] == {"key": KEYS[0], "side": 6}
    assert repeat(tasks([]), work="coins", n_jobs=1, processes=processes) == again


def test_what_failed_is_named_and_tried_again(tmp_path):
    settings = {"work": "coins", "path": tmp_path, "n_jobs": 2}
    found = repeat(tasks([], fails=KEYS[1:2]), **settings)
    assert found[KEYS[1]] == {"key": KEYS[1], "failed": "ValueError: tails"}
    done = []
    assert "failed" not in repeat(tasks(done), **settings)[KEYS[1]]
    assert done == [KEYS[1]]
    assert (tmp_path / RECORDS).exists()


def test_a_failure_in_the_form_of_older_files_is_tried_again(tmp_path):
    path = tmp_path / "coins.jsonl"
    head = {"format": "isinglass records", "schema": 1, "work": "coins"}
    old = {"key": KEYS[0], "records": [{"failed": "ValueError: tails"}]}
    path.write_text(f"{json.dumps(head)}\n{json.dumps(old)}\n")
    done = []
    repeat(tasks(done)[:1], work="coins", path=path, sound=lambda record: record["side"] > 0)
    assert done == KEYS[:1]


def test_a_task_of_several_records_keeps_those_it_made_before_it_failed():
    def make(keys):
        yield {"key": keys[0]}
        raise ArithmeticError("no more")

    found = repeat([Task(KEYS[:3], make)], work="coins", processes=True, n_jobs=1)
    assert ["failed" in found[key] for key in KEYS[:3]] == [False, True, True]


def test_former_names_of_arguments_still_work(tmp_path):
    rows = ig.simulate.ising(ig.simulate.chain(4), coupling=0.6, seed=0).sample(100, seed=0)
    with pytest.warns(FutureWarning, match="folder= is now path="):
        first = ig.audit(ig.GreedyGraph(), rows, 2, folder=tmp_path, n_jobs=1)
    with pytest.warns(FutureWarning, match="jobs= is now n_jobs="):
        again = ig.audit(ig.GreedyGraph(), rows, 2, path=tmp_path / RECORDS, jobs=1)
    assert first.tiers == again.tiers
    with pytest.warns(FutureWarning, match="jobs= is now n_jobs="):
        ig.plan(4, 1, 0.6, rows=[60], graphs=2, jobs=1)
