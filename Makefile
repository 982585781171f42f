# Two commands do everything: `make demo` and `make test`. `make help` lists the rest.
ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
PYTHON ?= python3
VENV := $(ROOT)/.venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps

.DEFAULT_GOAL := help
.PHONY: help tools demo test slow fuzz container crowdkit paper lint format types docs package bench speed clean

help:  ## list the commands
	@grep -hE '^[a-z]+:.*##' $(ROOT)/Makefile | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(STAMPS)/core  ## aggregate a built-in synthetic crowd and print the result
	@$(BIN)/coterie demo

test: $(STAMPS)/test  ## run all tests but the slow ones, doctests included
	@# a file's tests stay in one process, which compiles and fits for all of them
	cd $(ROOT) && $(BIN)/python -m pytest -n auto --dist loadfile $(ARGS)

slow: $(STAMPS)/test  ## run the slow tests, as CI does too
	@# only the files that have some: to collect the rest takes longer than some of them
	cd $(ROOT) && $(BIN)/python -m pytest -n auto --dist worksteal -m slow $(ARGS) \
	  $$(grep -rl --include='test_*.py' -e 'mark\.slow' -e rest_slow tests)

fuzz: $(STAMPS)/test  ## damage inputs, runs, checkpoints and names for an hour (ARGS="--minutes 5")
	cd $(ROOT)/tests && PYTHONPATH=$(ROOT)/tests $(BIN)/python -m fuzz $(ARGS)

container: $(STAMPS)/core  ## run as the Dockerfile does, without an engine: no rights, no HOME
	$(BIN)/python $(ROOT)/.ci/container

bar: $(STAMPS)/core  ## print how large the package is, and five functions to read (ARGS=--check)
	$(BIN)/python $(ROOT)/.ci/bar $(ARGS)

crowdkit:  ## run crowd-kit on the same frames, in an environment that is thrown away
	@folder=$$(mktemp -d) || exit; trap 'rm -rf "$$folder"' EXIT; trap 'exit 130' INT TERM; \
	install="$$folder/bin/python -m pip install --quiet --disable-pip-version-check"; \
	echo "Building a throw-away environment with crowd-kit (large, a minute or two) ..."; \
	cd $(ROOT) && $(PYTHON) -m venv $$folder && $$install --upgrade 'pip>=25.1' && \
	$$install . pytest hypothesis --group bench && \
	$$folder/bin/python -m pytest tests/models/test_crowd_kit.py $(ARGS)

paper: $(STAMPS)/test  ## make the paper's tables and figures again (ARGS="--quick": in minutes)
	cd $(ROOT) && $(BIN)/python -m reproduction $(ARGS)

lint: $(STAMPS)/lint  ## check style and format
	cd $(ROOT) && $(BIN)/ruff check . && $(BIN)/ruff format --check .

format: $(STAMPS)/lint  ## format the code and mend what can be mended
	cd $(ROOT) && $(BIN)/ruff check --fix . ; $(BIN)/ruff format .

types: $(STAMPS)/lint  ## check the types of src, strictly
	cd $(ROOT) && $(BIN)/mypy

docs: $(STAMPS)/docs  ## build the documentation, warnings as errors
	cd $(ROOT) && $(BIN)/sphinx-build -W -q -b html docs docs/_build

package: $(STAMPS)/package  ## build wheel and sdist, look inside, run the wheel in an empty environment
	cd $(ROOT) && $(BIN)/python .ci/package

bench: $(STAMPS)/bench  ## measure against others, in one run (ARGS="samplers": a part)
	cd $(ROOT) && $(BIN)/python -m benchmarks $(ARGS)

speed: $(STAMPS)/test  ## fail if a kernel has become slower than on record
	cd $(ROOT) && $(BIN)/python -m pytest -q benchmarks/test_regression.py
	cd $(ROOT) && $(BIN)/python -m benchmarks.regression $(ARGS)

tools: $(addprefix $(STAMPS)/,test lint docs package)  ## install what tests and checks need

clean:  ## remove the environment and every cache
	rm -rf $(VENV) $(ROOT)/docs/_build $(ROOT)/.pytest_cache $(ROOT)/.mypy_cache $(ROOT)/.ruff_cache $(ROOT)/.cache
	find $(ROOT)/src $(ROOT)/tests $(ROOT)/benchmarks -name __pycache__ -prune -exec rm -rf {} +

$(STAMPS)/core: $(ROOT)/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("coterie needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)")'
	@echo "Building the environment in $(VENV) (once, about a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '$(ROOT)[parquet,datasets]'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/%: $(STAMPS)/core
	@cd $(ROOT) && $(BIN)/python -m pip install --quiet --disable-pip-version-check --group $*
	@touch $@
