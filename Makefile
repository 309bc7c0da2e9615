# Everything works on a machine with Python >= 3.11, pip, make and git: the first target that needs it makes .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
BUILD := $(VENV)/build
STAMP := $(VENV)/.installed
COMPILED := $(VENV)/.compiled

.PHONY: demo test suite slow faults harnesses check lint types docs dist matrix help clean

help: ## Show the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

# torch goes first and alone: pinned, so that no larger build is drawn in by another package. pip compiles one file at a
# time, compileall one per core; what it leaves out (torch's internal tests hold a file for later Pythons only) is
# compiled when it is first imported.
PIP := $(BIN)/pip install -qq --disable-pip-version-check --no-compile --constraint constraints.txt
COMPILE := $(BIN)/python -m compileall -q -j 0 -x '/(tests?|models|testing)/' $(VENV)/lib

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) --editable '.[dev]' --editable ./examples/generating --editable ./examples/people --editable ./examples/preparing \
		--editable ./examples/training
	@touch $@ $(CORE)

# beside the linters
$(COMPILED): $(STAMP)
	@$(COMPILE)
	@touch $@

# the demo needs the core install alone
$(CORE): pyproject.toml constraints.txt
	@echo "Installing Momus into $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable .
	@$(COMPILE)
	@touch $@

demo: $(CORE) ## Compare a small language model with real documentation; ends with the report's path
	@$(BIN)/momus demo --out momus-demo

# the type check runs on one core for a minute or two: tests begin meanwhile
test: $(STAMP) ## Lint, type check, and run all tests but the slow ones; T=tests/core/joint: only those
	$(if $(T),,@$(MAKE) -j2 lint $(COMPILED))
	$(if $(T),OMP_NUM_THREADS=1 $(BIN)/pytest $(T),@$(MAKE) -j2 types suite)

# groups of tests that share fixtures go to one process (tests/conftest.py), one thread each: threads slow one another
suite: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto

slow: $(STAMP) ## Run all tests, also those that take long (about an hour)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto -m "slow or not slow"

faults: $(STAMP) ## Run the whole fault suite: 10,000 fuzzed inputs, all kills and corruptions
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto -m "slow or not slow" tests/faults

HARNESSES := tests/adapters/test_logs.py tests/examples/training tests/cli/test_logs.py

harnesses: $(STAMP) ## Install harnesses and trackers beside Momus, and run the tests that skip without them
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[logs]' \
		--editable './examples/training[wandb,mlflow,tensorboard]' trl lm-eval datasets
	OMP_NUM_THREADS=1 $(BIN)/pytest -m "slow or not slow" $(HARNESSES)

check: lint types ## Lint and type check only

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/lint-imports --config .import-cycles.toml

types: $(STAMP)
	$(BIN)/mypy

docs: $(STAMP) ## Build the documentation into site/; warnings are errors
	$(BIN)/mkdocs build --strict

# the tools that build and check have an environment of their own, which is made in seconds
$(BUILD): constraints.txt
	$(PYTHON) -m venv $(BUILD)
	$(BUILD)/bin/pip install -qq --disable-pip-version-check --constraint constraints.txt \
		hatchling twine check-wheel-contents
	@touch $@

dist: $(BUILD) ## Build the wheel and the source archive into dist/, and check both
	rm -rf dist
	$(BUILD)/bin/hatchling build -d dist
	$(BUILD)/bin/twine check --strict dist/*
	$(BUILD)/bin/check-wheel-contents dist/*.whl
	$(BUILD)/bin/python benchmarks/install/contents.py dist/*

matrix: dist ## Try the wheel in empty environments of Python 3.11 (least versions), 3.12 and 3.13 (newest)
	$(BUILD)/bin/python benchmarks/install/matrix.py dist/*.whl --tests tests/core

clean: ## Remove the environment and caches
	rm -rf $(VENV) dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache momus-demo
