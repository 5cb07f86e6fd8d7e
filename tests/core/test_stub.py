"""The types of the compiled core, as mypy reads them, are those of the module that was built."""

from pathlib import Path

import pytest

from isinglass.core import _core, gate

STUB = Path(gate.__file__).with_name("_core.pyi")


def test_stub_is_up_to_date():
    stubgen = pytest.importorskip("nanobind.stubgen")
    made = stubgen.StubGen(module=_core)
    made.put(_core)
    assert STUB.read_text() == made.get(), "module.cpp exports something else: run scripts/stub"
