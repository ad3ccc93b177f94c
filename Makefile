# The two commands of the README are `make book` and `make test`.
# Both create .venv, install the pinned requirements.txt and momab into it once,
# and reuse it until requirements.txt or pyproject.toml changes.

PYTHON ?= python3
VENV ?= .venv
EDITION ?= instructor
WORKERS ?= auto
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-for-$(notdir $(PYTHON))

.PHONY: help book pdf proofs test test-all coverage lint bench lock clean

help:
	@echo "make book   build the site into _build/html (EDITION=student: no solutions, _build/student)"
	@echo "make pdf    print the site to _build/momab.pdf (needs Chromium)"
	@echo "make proofs check the formal proofs with Coq and record the outcome (needs Coq)"
	@echo "make test   lint, build the book if it is not there, and test what takes minutes"
	@echo "make test-all  the long tests: millions of rounds, a hostile class, printing"
	@echo "make coverage  make test, and which lines it did not reach; loops take twice as long"
	@echo "make lint   style, types and layers only"
	@echo "make bench  measure speed, as ratios within one run"
	@echo "make lock   pin requirements.txt again from pyproject.toml"
	@echo "make clean  remove _build and the caches, keep $(VENV)"

$(STAMP): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v <= (3, 13) else f"momab needs Python 3.11, 3.12 or 3.13; $(PYTHON) is {v[0]}.{v[1]}. Try: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

book: $(STAMP)
	@$(BIN)/momab book --edition $(EDITION)

pdf: book
	@$(BIN)/momab pdf

proofs: $(STAMP)
	@$(BIN)/momab proofs

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint book
	$(BIN)/pytest -n $(WORKERS) --dist loadfile -m "not slow"

test-all: $(STAMP) book
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m slow

coverage:
	PYTEST_ADDOPTS="--cov --cov-report=term" $(MAKE) test

bench: $(STAMP)
	$(BIN)/momab bench

lock: $(STAMP)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
		--all-extras --no-header --no-annotate --no-emit-index-url --upgrade \
		pyproject.toml -o requirements.txt

clean:
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .coverage .hypothesis
