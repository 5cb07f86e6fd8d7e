"""What the README and the quickstart tell people to type, typed."""

import doctest
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

from isinglass import GreedyGraph, simulate

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
QUICKSTART = (ROOT / "docs" / "quickstart.md").read_text()


def run_examples(text: str, name: str) -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert test.examples
    assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0


def shell_lines(text: str) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def run_shell(line: str, folder: Path) -> str:
    """Run a line with `isinglass` as this Python has it."""
    command = f'"{sys.executable}" -c "from isinglass.cli import main; main()"'
    line = line.replace("isinglass", command, 1)
    done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("text", [README, QUICKSTART], ids=["README", "quickstart"])
def test_python_and_shell(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_examples(text, "example")
    lines = [line for line in shell_lines(text) if line != "isinglass demo"]
    assert len(lines) >= 2
    for line in lines:
        run_shell(line, tmp_path)
    folder = next(path for path in tmp_path.iterdir() if path.is_dir())
    assert {path.name for path in folder.iterdir()} == {
        "edges.csv",
        "graph.graphml",
        "graph.png",
        "model.json",
        "nodes.csv",
        "report.html",
    }
    assert json.loads(next(tmp_path.glob("*.json")).read_text())["edges"]


def test_shell_lines_of_simulate(tmp_path):
    for line in shell_lines((ROOT / "docs" / "simulate.md").read_text()):
        run_shell(line, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("grid.csv", "items.csv", "tree.csv", "truth.csv")
    }


def test_shell_lines_of_files(tmp_path):
    est = GreedyGraph().fit(simulate.ising(simulate.chain(3)).sample(500, seed=0))
    est.model_.save(tmp_path / "model.json", fit=est.record())
    for line in shell_lines((ROOT / "docs" / "files.md").read_text()):
        run_shell(line, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "graph.graphml",
        "model.json",
        "table.csv",
    }


def test_ten_lines_of_python_and_three_of_shell():
    assert len(re.findall(r"^>>>", README, flags=re.MULTILINE)) <= 10
    assert len(shell_lines(README)) == 3


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *ROOT.glob("docs/*.md")], ids=str)
def test_links_lead_somewhere(page):
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


def test_commands_exist():
    makefile = (ROOT / "Makefile").read_text()
    for page in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"make ([a-z-]+)", (ROOT / page).read_text()):
            assert f"\n{target}:" in makefile


def test_names_that_bind_the_paper_to_the_code_exist():
    rooms = "losses|solvers|engine|estimators|selection"
    page = (ROOT / "docs" / "paper.md").read_text()
    names = set(re.findall(rf"`((?:{rooms})(?:\.\w+)+)", page))
    assert len(names) > 10
    for name in names:
        pkgutil.resolve_name(f"isinglass.{name}")
