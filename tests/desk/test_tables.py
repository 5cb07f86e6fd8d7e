"""Files that are sent, work that is stopped, and what is left."""

import io
import json
import socket
import sys
import time
import tomllib
import zipfile
from importlib.resources import files
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from desk.conftest import answers, end, start
from isinglass import GreedyGraph
from isinglass.desk.serving import serve
from isinglass.desk.tables import clean_name
from isinglass.errors import MissingExtra, SettingError
from selections import mostly_long


def wait(desk, key, until=("done", "failed", "stopped")):
    while (status := desk.ask("GET", f"tables/{key}")[1])["state"] not in until:
        time.sleep(0.05)
    return status


def send(desk, path, name=None):
    status, answer = desk.ask("POST", f"tables?name={name or path.name}", path.read_bytes())
    assert status == 201
    return answer["key"]


def proposed(columns):
    names = [column["name"] for column in columns["columns"]]
    pairs = list(zip(names, columns["settings"], strict=True))
    return {"reading": columns["reading"], "fit": columns["fit"], "columns": pairs}


def learn(desk, key, settings, extras=()):
    asked = json.dumps({"settings": settings, "extras": list(extras)})
    assert desk.ask("POST", f"tables/{key}/learn", asked) == (200, {})


def test_the_lines_do_the_same_again(desk, survey, tmp_path, monkeypatch):
    key = send(desk, survey)
    assert wait(desk, key)["state"] == "done"
    settings = proposed(desk.ask("GET", f"tables/{key}/columns")[1])
    learn(desk, key, settings)
    assert wait(desk, key)["state"] == "done"
    result = desk.ask("GET", f"tables/{key}/result")[1]
    found = {(edge["source"], edge["target"]) for edge in result["edges"]}
    assert found == {("smokes", "coughs"), ("coughs", "tired")}
    toml = desk.ask("GET", f"tables/{key}/files/survey.toml")[1]
    assert tomllib.loads(toml)["columns"]["person"] == {"drop": True}
    (tmp_path / "survey.toml").write_text(toml)
    monkeypatch.chdir(tmp_path)
    lines = result["python"].splitlines()
    assert len([line for line in lines if line]) == 5
    world: dict = {}
    exec("\n".join(lines), world)
    assert set(world["est"].graph_.edges) == found
    assert result["command"].startswith("isinglass fit survey.csv --settings survey.toml --out ")
    names = {file["name"] for file in result["files"]}
    assert {"report.html", "edges.csv", "edges.docx", "methods.txt", "survey.toml"} <= names
    status, content = desk.bytes_of(f"tables/{key}/all.zip")
    assert status == 200
    assert set(zipfile.ZipFile(io.BytesIO(content)).namelist()) == names
    desk.ask("DELETE", f"tables/{key}")
    assert desk.kept() == []


def test_results_are_not_there_before_they_are(desk, survey):
    key = send(desk, survey)
    wait(desk, key)
    assert desk.ask("GET", f"tables/{key}/result")[0] == 409
    assert desk.ask("GET", f"tables/{key}/files/survey.csv")[0] == 409
    desk.ask("DELETE", f"tables/{key}")
    assert desk.ask("GET", f"tables/{key}")[0] == 404


def test_names_of_files_cannot_leave_the_folder(desk):
    content = answers(50).write_csv().encode()
    status, answer = desk.ask("POST", "tables?name=..%2F..%2Fevil%00.csv", content)
    assert status == 201
    assert [path.name for path in desk.kept()][:1] == ["evil_.csv"]
    assert wait(desk, answer["key"])["state"] == "done"
    key = answer["key"]
    assert desk.ask("GET", f"tables/{key}/files/..%2Fevil_.csv")[0] in (404, 409)
    desk.ask("DELETE", f"tables/{key}")


@pytest.mark.parametrize("name", ["a/b/c.csv", "..", "", "-rf.csv", "x" * 300 + ".sav", ".hidden"])
def test_a_clean_name_is_one_name(name):
    clean = clean_name(name)
    assert clean
    assert len(clean) < 120
    assert clean[0] not in "-."
    assert not set(clean) & set("/\\\0\n")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    mostly_long(
        [
            ("survey.csv", b"a,b\n1,2\n1,2,3\n", "survey.csv"),
            ("survey.sav", b"no SPSS file at all", "survey.sav"),
            ("survey.xlsx", b"PK\x03\x04 broken", "survey.xlsx"),
            ("survey.pdf", b"%PDF-1.4", ".pdf"),
            ("survey.parquet", b"PAR1", "survey.parquet"),
        ],
        2,
    ),
)
def test_a_bad_file_is_one_sentence(desk, name, content, words):
    _, answer = desk.ask("POST", f"tables?name={name}", content)
    status = wait(desk, answer["key"])
    assert status["state"] == "failed"
    assert words in status["sentence"]
    assert str(desk.folder) not in status["sentence"]
    assert "--" not in status["sentence"].replace("--max-size", "")
    desk.ask("DELETE", f"tables/{answer['key']}")


def test_an_empty_file_and_odd_settings_are_sentences(desk, survey):
    status, answer = desk.ask("POST", "tables?name=a.csv", b"")
    assert (status, "is empty" in answer["sentence"]) == (400, True)
    key = send(desk, survey)
    wait(desk, key)
    for body in (b"[]", b"{", b'{"settings": 3}', b'{"settings": {"columns": [3]}}'):
        status, answer = desk.ask("POST", f"tables/{key}/learn", body)
        assert status == 400
        assert answer["sentence"].endswith(".")
    settings = {"fit": {"missing": "drop", "rule": "neither"}, "columns": []}
    learn(desk, key, settings)
    assert "'neither' is not one of" in wait(desk, key)["sentence"]
    learn(desk, key, {"columns": [["age", {"bins": "many"}]]})
    assert "bins cannot be 'many'" in wait(desk, key)["sentence"]
    learn(desk, key, {"columns": []})
    refused = wait(desk, key)["sentence"]
    assert "person" in refused
    assert "Bins: 4" in refused
    assert "--" not in refused
    desk.ask("DELETE", f"tables/{key}")


def wide(path, columns=250):
    """A table whose pairs take minutes to judge."""
    codes = np.random.default_rng(0).integers(0, 4, (1000, columns))
    pl.DataFrame(codes, schema=[f"q{j}" for j in range(columns)]).write_csv(path)
    return path


def test_a_stopped_fit_leaves_nothing_behind(desk, tmp_path):
    key = send(desk, wide(tmp_path / "wide.csv"))
    assert wait(desk, key)["state"] == "done"
    before = sorted(desk.kept())
    learn(desk, key, {"columns": []}, ["verdicts"])
    while not (status := desk.ask("GET", f"tables/{key}")[1])["done"]:
        assert status["state"] == "running"
        time.sleep(0.05)
    assert desk.jobs()
    assert desk.ask("POST", f"tables/{key}/stop")[0] == 200
    assert desk.ask("GET", f"tables/{key}")[1]["state"] == "stopped"
    assert desk.jobs() == []
    assert sorted(desk.kept()) == before
    desk.ask("DELETE", f"tables/{key}")


def test_ctrl_c_ends_the_work_too(tmp_path):
    (tmp_path / "desk").mkdir()
    own = start(tmp_path / "desk", "--max-size", "1e6")
    key = send(own, wide(tmp_path / "wide.csv"))
    assert wait(own, key)["state"] == "done"
    learn(own, key, {"columns": []}, ["verdicts"])
    while not (jobs := own.jobs()):  # the answer does not wait until the work has begun
        assert own.ask("GET", f"tables/{key}")[1]["state"] == "running"
        time.sleep(0.01)
    too_large = own.ask("POST", "tables?name=large.csv", b"a\n" + b"1\n" * 600_000)
    assert too_large[0] == 413
    assert "larger than 1 MB" in too_large[1]["sentence"]
    assert own.ask("GET", f"tables/{key}")[1]["state"] == "running"
    assert end(own) == (0, "The desk has ended; its temporary files are gone.\n")
    assert list((tmp_path / "desk").iterdir()) == []
    assert not [job for job in jobs if Path(f"/proc/{job}").exists()]


def test_without_the_extra_one_sentence_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtra, match=r"needs uvicorn.*pip install 'isinglass\[desk\]'"):
        serve(port=0, most_bytes=1, ready=print)


def test_a_port_that_is_taken_is_one_sentence():
    pytest.importorskip("uvicorn", reason="the extra desk is not installed here")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(SettingError, match=f"port {port} is not available"):
            serve(port=port, most_bytes=1, ready=print)


def test_the_page_shows_the_defaults_of_the_library():
    """What it leaves out of the settings is what it shows as chosen."""
    script = files("isinglass.desk").joinpath("page", "main.js").read_text()
    for name in ("missing", "rule", "edges"):
        default = GreedyGraph().get_params()[name]
        assert f'if (fit.{name} === "{default}") delete fit.{name};' in script
        assert f'fit.{name} || "{default}"' in script
