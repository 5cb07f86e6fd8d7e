# make demo   learn a graph from data that ships with scikit-learn, and draw it
# make test   lint, types, and the tests (a few minutes on two cores)
# make coverage   which lines of Python the tests reach; pages of it in build/coverage
# make docs   the documentation site, as build/docs/index.html
# make dist   sdist and wheel in dist/, tried in an empty environment without a compiler
# make core-test   the C++ tests of the core, quickly; also part of `make test`
# make sanitize   the C++ core under sanitizers and valgrind (a few minutes)
# make friends   models beside pgmpy and pyAgrum, each in an environment of its own
# make benchmark           how fast beside other work and other libraries (some minutes)
# make benchmark-scaling   time and memory as tables grow
# make benchmark-protein   a table of many states
# Each sets up what it needs in .venv (and .venv-peers) first; nothing else is installed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
NATIVE := $(wildcard src/isinglass/core/*.cpp src/isinglass/core/*/*.hpp)

.PHONY: coverage demo dist docs test test-long core-test sanitize friends lint types clean help benchmark benchmark-scaling benchmark-protein

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
	$(BIN)/python -m pytest -q -n auto -m 'long or not long' --hypothesis-profile=fresh

coverage: $(READY)
	$(BIN)/python -m pytest -q -n auto --cov --cov-report=term --cov-report=html:build/coverage

docs: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[test,docs]'
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	@echo "the site is build/docs/index.html; its examples run in \`make test\`"

dist:
	PYTHON=$(PYTHON) scripts/dist

core-test: $(READY)
	scripts/core-test

sanitize: $(READY)
	scripts/sanitize

friends:
	scripts/friends

lint: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/lint

types: $(READY)
	PATH="$(CURDIR)/$(BIN):$$PATH" scripts/types

PEERS := abess adelie skglm skscope

benchmark: $(READY) $(PEERS:%=.venv-peers/%/ready)
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/l1.py

benchmark-scaling: $(READY)
	$(BIN)/python benchmarks/scaling.py

benchmark-protein: $(READY)
	$(BIN)/python benchmarks/protein.py

.venv-peers/%/ready:
	@# What cannot be installed is no reason to stop: the benchmark reports it.
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet $* > .venv-peers/$*.log 2>&1 && touch $@ \
	  || echo "$* could not be installed: see .venv-peers/$*.log"

clean:
	rm -rf $(VENV) .venv-peers .venv-friends build demo dist
