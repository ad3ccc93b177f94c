# The two commands of the README are `make book` and `make test`.
# `make book` creates .venv with what the book needs (requirements.txt); `make test` adds the
# rest to it (requirements-dev.txt). Both are reused until a pinned file or pyproject.toml changes.

PYTHON ?= python3
VENV ?= .venv
EDITION ?= instructor
WORKERS ?= auto
BIN := $(VENV)/bin
BOOK := $(VENV)/.book-for-$(notdir $(PYTHON))
TEST := $(VENV)/.test-for-$(notdir $(PYTHON))
UV := $(shell command -v uv)
ifneq ($(UV),)
INSTALL = $(UV) pip install --quiet --python $(BIN)/python
else  # modules are compiled when they are first imported
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
endif
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--no-header --no-annotate --no-emit-index-url pyproject.toml

.PHONY: help book pdf proofs test test-all coverage lint bench lock clean

help:
	@echo "make book   build the site into _build/html (EDITION=student: no solutions, _build/student)"
	@echo "make pdf    print the site to _build/momab.pdf (needs Chromium)"
	@echo "make proofs check the formal proofs with Coq and record the outcome (needs Coq)"
	@echo "make test   lint, build the book if it is not there, and run the everyday tests"
	@echo "make test-all  the long tests: every page in the browser, a hostile class, printing"
	@echo "make coverage  make test, and which lines it did not reach; loops take twice as long"
	@echo "make lint   style, types and layers only"
	@echo "make bench  measure speed, as ratios within one run"
	@echo "make lock   pin requirements.txt and requirements-dev.txt again from pyproject.toml"
	@echo "make clean  remove _build and the caches, keep $(VENV)"

$(BOOK): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v <= (3, 13) else f"momab needs Python 3.11, 3.12 or 3.13; $(PYTHON) is {v[0]}.{v[1]}. Try: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv --clear $(VENV)
	$(INSTALL) -r requirements.txt
	$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(TEST): $(BOOK) requirements-dev.txt
	$(INSTALL) -r requirements-dev.txt
	@touch $@

book: $(BOOK)
	@$(BIN)/momab book --edition $(EDITION)

pdf: book
	@$(BIN)/momab tools pdf

proofs: $(BOOK)
	@$(BIN)/momab tools proofs

lint: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint book
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow"

test-all: $(TEST) book
	HYPOTHESIS_PROFILE=long $(BIN)/pytest -n $(WORKERS) --dist worksteal -m slow

coverage:
	PYTEST_ADDOPTS="--cov --cov-report=term" $(MAKE) test

bench: $(TEST)
	$(BIN)/momab tools bench

lock: $(TEST)
	$(LOCK) --upgrade --extra book --extra fast -o requirements.txt
	$(LOCK) --upgrade --all-extras -c requirements.txt -o requirements-dev.txt

clean:
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .coverage .hypothesis
