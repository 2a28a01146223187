# Plain `make` lists the verbs.
PYTHON ?= python3
ARGS ?=
PART ?=
BIN := .venv/bin
ifeq ($(OS),Windows_NT)
  BIN := .venv/Scripts
endif
# Forked workers take over what was imported and collected once; where forking is not safe each does it for itself.
ifeq ($(shell uname -s),Linux)
  SHARED := -p no:xdist --workers 6
else
  SHARED := -n 6 --dist loadfile
endif
# The tests start Python hundreds of times: compile each file once, whatever the shell asks for.
unexport PYTHONDONTWRITEBYTECODE

# Workers share the cores: threads of linear algebra would only spin beside them.
check test suite imports prove: export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test check suite style types scripts imports links audit bench scaling zoo prove docs papers browser lock

# What `bench`, `scaling`, `zoo`, `docs` and `papers` run lies in tools/.
bench scaling zoo docs links papers: export PYTHONPATH := tools

help:  ## list the verbs
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: .venv/ready  ## make .venv with everything to run

demo: setup  ## a whole study with simulated participants (ARGS=--exit stops by itself, --prolific: with play money)
	$(BIN)/beholder demo $(ARGS)

# The checks of types need one core each, and tests wait for browsers: beside each other they leave no core idle.
test: style browser  ## everything that must hold: all of check, and the tests
	@$(MAKE) --no-print-directory -j 3 types scripts links suite

check: style  ## style, risky calls, dependencies, types (Python and browser), import directions, links of the docs
	@$(MAKE) --no-print-directory -j 2 types scripts imports links

suite:
	$(BIN)/python -m pytest $(SHARED) $(ARGS)

style: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/check_dependencies.py

types:
	$(BIN)/mypy

scripts:
	$(BIN)/python tools/check_browser_types.py

imports:
	$(BIN)/python -m pytest -q tests/unit/test_architecture.py

audit: .venv/dev  ## hold the pinned packages against known vulnerabilities; needs network
	$(BIN)/uv tool run pip-audit --requirement requirements/run.txt --no-deps --disable-pip

bench: .venv/dev  ## measure, and write docs/benchmarks.md
	$(BIN)/python -m bench $(ARGS)

scaling: .venv/dev  ## write the tables and the diagram of docs/scaling.md (ARGS=--measure: measure before)
	$(BIN)/python -m scaling $(ARGS)

zoo: .venv/dev  ## send cheats and honest robots through every preset, and write docs/trust.md
	$(BIN)/python -m zoo.visits $(ARGS)

prove: .venv/dev browser  ## the long simulations and kill loops, whole (PART=kills: one part; CONTRIBUTING lists them)
	$(BIN)/python -m pytest -m "long or variant" --whole $(if $(PART),--part $(PART)) $(ARGS)

links:
	$(BIN)/python -m documentation.site --check

docs: .venv/dev browser  ## make screenshots and reference pages anew, and build/site (ARGS=--no-pictures: no screenshots)
	$(BIN)/python -m documentation $(ARGS)
	$(BIN)/python -m documentation.site

papers: .venv/dev browser  ## run the studies of the four papers whole, and write docs/papers.md
	$(BIN)/python -m documentation.papers $(ARGS)

browser: .venv/dev
	$(BIN)/python tools/find_browser.py
	$(BIN)/python tools/check_browser_types.py --install

lock:  # pins, without index addresses
	for name in run dev; do \
	  $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	    --no-annotate --constraint requirements/constraints.in pyproject.toml requirements/build.in $$([ $$name = dev ] && echo --group dev) -o requirements/$$name.txt; done
	for name in caddy buckets; do \
	  $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	    --no-annotate requirements/$$name.in -o requirements/$$name.txt; done

.venv/uv: requirements/uv.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

# Libraries are compiled where they are first used: of their 9,000 files a study reads a quarter.
.venv/ready: .venv/uv requirements/run.txt pyproject.toml
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/run.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q src
	@touch $@

.venv/dev: .venv/ready requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	@touch $@
