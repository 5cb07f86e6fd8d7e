"""Importing the room is light."""

import subprocess
import sys

HEAVY = ["polars", "pandas", "pyarrow", "networkx", "rich", "scipy.stats", "matplotlib"]
HEAVY += ["pyreadstat", "fastexcel", "xlsxwriter"]

# The package's own __init__ is stepped over: other rooms answer for what they import.
SCRIPT = f"""
import importlib.util, sys, types
package = types.ModuleType("isinglass")
package.__path__ = importlib.util.find_spec("isinglass").submodule_search_locations
sys.modules["isinglass"] = package
import isinglass.table
print([name for name in {HEAVY} if name in sys.modules])
"""


def test_no_heavy_library_is_imported():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
