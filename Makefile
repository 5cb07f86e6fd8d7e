# make demo   learn a graph from data that ships with scikit-learn, and draw it
# make test   lint, types, and the tests (a few minutes on two cores)
# Both set up what they need in .venv first; nothing else is installed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
NATIVE := $(wildcard src/isinglass/core/*.cpp src/isinglass/core/*.hpp)

.PHONY: demo test test-long lint types clean help

help:
	@sed -n 's/^# //p' Makefile

$(READY): pyproject.toml CMakeLists.txt $(NATIVE)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "isinglass needs Python 3.11 or later; set PYTHON=/path/to/python"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

demo: $(READY)
	$(BIN)/isinglass demo --out demo

test: lint types
	$(BIN)/python -m pytest -q -n auto

test-long: $(READY)
	$(BIN)/python -m pytest -q -n auto -m 'long or not long'

lint: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/lint

types: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/types

clean:
	rm -rf $(VENV) build demo
