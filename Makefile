# attriguard: everything from two commands. `make demo` shows what it does, `make test` checks that it does it.
#
# Each target makes what it needs, in .venv, and reuses it the next time.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt

.PHONY: demo test lint types tests fuzz bench docs examples release-check test-lowest format clean help
.DEFAULT_GOAL := help

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/.core  ## the whole job on the embedded data set, with an HTML page at the end
	$(BIN)/attriguard demo

# Types and tests side by side: each leaves the cores idle at times.
test: lint  ## lint, types and all tests: what CI runs
	@$(MAKE) --no-print-directory -j2 types tests

lint: $(VENV)/.test  ## style and common mistakes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test  ## strict types
	$(BIN)/mypy

# Every worker has a core to itself: threads of BLAS and OpenMP in each would only wait for each other. Bytecode is kept,
# whatever the environment says: tests and notebooks start many processes, each of which would compile all it loads.
ALONE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=

tests: $(VENV)/.test  ## all tests, on all cores
	$(ALONE) $(BIN)/python -m pytest -q -n auto

# FUZZ=10000 make fuzz: as many inputs; FROM=10000 goes on behind them. Seeds that failed are listed at the end.
fuzz: $(VENV)/.test  ## generated tables, damaged files and kills, for as long as you like
	$(BIN)/python tests/fuzz/fuzz.py $(or $(FUZZ),1000) --start $(or $(FROM),0)

bench: $(VENV)/.bench  ## the speed figures, as ratios, printed and in bench.json
	$(BIN)/attriguard bench --output bench.json

docs: $(VENV)/.docs  ## the documentation site, tutorials run, into docs/_build/html
	$(ALONE) $(BIN)/python -m sphinx -b html -W --keep-going -q -j auto docs docs/_build/html
	$(BIN)/python docs/_ext/links.py docs/_build/html
	@echo "open docs/_build/html/index.html"

examples: $(VENV)/.test  ## run every example in README.md and docs/, and check links and figures
	$(BIN)/python -m pytest -q tests/docs

release-check: $(VENV)/.release  ## build the archives twice, look into them, install them elsewhere, run them
	$(BIN)/zizmor --offline --quiet .github/workflows
	$(BIN)/python tests/release/check.py

# In an environment of its own, with the lowest versions that pyproject.toml permits; torch and pyspark are left out. What
# only tests need is of any version, and a later library may warn about an earlier one: warnings are no errors here.
LOWEST := .venv-lowest
test-lowest: $(LOWEST)/.made  ## fast tests with the lowest versions that pyproject.toml permits
	$(ALONE) $(LOWEST)/bin/python -m pytest -q -n auto -o filterwarnings=default \
	  tests/test_guard.py tests/test_storage.py tests/test_public_names.py tests/test_goals.py tests/report \
	  tests/data/test_ratings.py tests/data/named/test_authors.py tests/data/named/test_download.py tests/data/tables \
	  tests/mechanism/test_sampling.py tests/mechanism/test_solver.py tests/noise/test_panda.py \
	  tests/noise/test_costs.py tests/utility tests/bench/test_art.py

$(LOWEST)/.made: pyproject.toml tests/release/lowest.py
	@$(PYTHON) -m venv $(LOWEST)
	@echo "installing attriguard with the lowest versions of what it needs into $(LOWEST)"
	@$(PYTHON) tests/release/lowest.py > $(LOWEST)/lowest.txt
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --editable . \
	  --requirement $(LOWEST)/lowest.txt polars pytest pytest-xdist hypothesis
	@touch $@

format: $(VENV)/.test  ## put the code into its standard layout
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove what make has made
	rm -rf $(VENV) $(LOWEST) docs/_build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis bench.json
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "attriguard needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "this Python cannot make virtual environments; on Debian: apt-get install python3-venv"; exit 1; }

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing attriguard into $(VENV)"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing attriguard and what its tests need into $(VENV)"
	@$(PIP) --editable '.[test]'
	@touch $@ $(VENV)/.core

$(VENV)/.docs: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing attriguard and what its documentation needs into $(VENV)"
	@$(PIP) --editable '.[docs]'
	@touch $@ $(VENV)/.core

$(VENV)/.release: $(VENV)/.core
	@$(PIP) --editable '.[release]'
	@touch $@

$(VENV)/.bench: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing attriguard and what its benchmarks need into $(VENV)"
	@$(PIP) --editable '.[bench]'
	@touch $@ $(VENV)/.core
