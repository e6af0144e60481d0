# Every target builds what it needs in .venv, from nothing but python >= 3.11 and make.

VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements/tools.lock
# Tried in this order; `make demo PYTHON=/path/to/python` puts another one first.
PYTHON :=
CANDIDATES := $(strip $(PYTHON) python3.13 python3.12 python3.11 python3 python)
# Test processes. Two suit a small machine; more help where there is memory for them.
JOBS ?= 2

.DEFAULT_GOAL := help
# Two targets may need the same environment, and pip must not run in it twice at once.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test test-slow fuzz check coverage lint types format bench bench-guard docs linkcheck reproduce reproduce-full changelog clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.has-plots ## Screen for breast cancer with unequal costs; writes into demo/
	$(BIN)/python -m bayesrule.demo

test: $(VENV)/.has-test ## Run the tests and the examples in the docstrings
	$(BIN)/python -m pytest -n $(JOBS)

test-slow: $(VENV)/.has-test ## Run the long tests: every setting, every hard input (hours)
	$(BIN)/python -m pytest -n $(JOBS) -m slow tests

fuzz: $(VENV)/.has-test ## Read 200,000 broken model files; goes on where it was stopped
	$(BIN)/python tests/fuzzing.py

check: lint types test ## All that must pass: lint, types, tests

coverage: $(VENV)/.has-dev ## Show which lines outside compiled loops no test runs
	rm -rf .cache/coverage && mkdir -p .cache/coverage
	$(BIN)/python -m coverage run -m pytest -q -n $(JOBS)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

lint: $(VENV)/.has-dev ## Look for mistakes and stray layout
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.has-dev ## Check the types of the package
	$(BIN)/mypy

format: $(VENV)/.has-dev ## Mend what lint can mend by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.has-bench ## Compare speed and memory with other programs; writes benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks --quick --page benchmarks/RESULTS.md

bench-guard: $(VENV)/.has-bench ## Fail where anything is 1.3 times as slow as benchmarks/baseline.json
	$(BIN)/python -m benchmarks.guard

reproduce: $(VENV)/.has-test ## Make the papers' tables and figures again, quickly, into build/reproduction
	$(BIN)/python -m reproduce

reproduce-full: $(VENV)/.has-test ## The same at full length (hours), into docs/reproduction
	$(BIN)/python -m reproduce --full

docs: $(VENV)/.has-docs ## Build the documentation and its examples into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

linkcheck: $(VENV)/.has-docs ## Ask every external address of the documentation; needs a network
	$(BIN)/python -m sphinx -b linkcheck -D plot_gallery=0 docs docs/_build/linkcheck

changelog: $(VENV)/.has-dev ## Gather changelog.d/ into CHANGELOG.md for a release
	$(BIN)/towncrier build --yes

clean: ## Remove the environment and all that was generated
	rm -rf .venv demo build dist docs/_build docs/course docs/stories docs/reference/generated .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# A candidate counts only if it runs: a name on the PATH may be an empty shim.
$(VENV)/.made:
	@for python in $(CANDIDATES); do \
	    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    recent=$$python; \
	    "$$python" -c 'import ensurepip, venv' 2>/dev/null || continue; \
	    echo "Making $(VENV) with $$("$$python" --version)"; \
	    "$$python" -m venv $(VENV) && touch $@ && exit 0; \
	    exit 1; \
	done; \
	if [ -n "$$recent" ]; then \
	    echo "error: $$recent has no venv and ensurepip: install them (on Debian and Ubuntu:" \
	        "the package python3-venv), or name another with make PYTHON=/path/to/python" >&2; \
	else \
	    echo "error: bayesrule needs Python 3.11 or newer, and none of these is: $(CANDIDATES)." \
	        "Install one, or name it with make PYTHON=/path/to/python" >&2; \
	fi; \
	exit 1

# One stamp per set of extras, so that a second run installs nothing.
$(VENV)/.has-%: $(VENV)/.made pyproject.toml $(LOCK)
	@echo "Installing bayesrule[$*] into $(VENV): a few minutes where nothing is downloaded yet"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --constraint $(LOCK) --editable ".[$*]"
	@touch $@
