# Two commands from a fresh clone: `make run` and `make test`. `make help` lists the rest.
PYTHON ?= python3
# Another interpreter has an environment of its own: make test PYTHON=python3.13 VENV=.venv-3.13
VENV ?= .venv
UV_VERSION := 0.13.8
# The caller's own environments are nobody's business here: every step works on .venv alone. Bytecode is kept,
# as each worker of the tests would compile every file of tests anew, with its assertions rewritten: 14 s each.
unexport VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE
UV = $(VENV)/bin/uv pip --quiet
# For tests and benchmarks on data that cannot be shipped: make test DATA=path/to/data
DATA ?=
export SHORTLIST_DATA := $(if $(DATA),$(abspath $(DATA)),$(SHORTLIST_DATA))

# make test PAPERS=changed leaves out the papers' tests where nothing of them differs from the branch main.
PAPERS ?= yes
OF_PAPERS := src/shortlist_papers tests/shortlist_papers
LEFT_OUT = $(if $(filter changed,$(PAPERS)),$(if $(shell git status --short -- $(OF_PAPERS); \
  git log --oneline main.. -- $(OF_PAPERS)),,$(OF_PAPERS:%=--ignore=%)))

.PHONY: run test pytest style fuzz check browser mutate screens bench lowest docs dist changelog help clean lock
run: $(VENV)/ready  ## prune a pool of 50 classifiers on scikit-learn's digits, with proof
	@mkdir -p out
	$(VENV)/bin/shortlist prune example:digits --classifiers 50 --out out/digits.joblib

# One thread for each worker: problems here are small, and threads that wait for work spin.
test pytest fuzz: export OMP_NUM_THREADS := 1

# Kernels are compiled once, before the workers start. Layers, types and style are checked beside the tests.
test: $(VENV)/ready-dev  ## every test, doctests, layers, types and style included
	$(VENV)/bin/python -m tests.compile_kernels
	@$(MAKE) --no-print-directory --jobs=2 pytest style

pytest: $(VENV)/ready-dev
	$(VENV)/bin/python -m pytest --numprocesses=auto --maxprocesses=4 --dist=loadfile $(LEFT_OUT) $(PYTEST_ARGS)

style: $(VENV)/ready-dev
	$(VENV)/bin/ruff check --quiet
	$(VENV)/bin/ruff format --check --quiet
	$(VENV)/bin/lint-imports --no-cache > /dev/null || $(VENV)/bin/lint-imports --no-cache
	$(VENV)/bin/mypy

fuzz: $(VENV)/ready-dev  ## the property tests on new random examples; a failure is told with what repeats it
	$(VENV)/bin/python -m pytest --numprocesses=auto --maxprocesses=4 --dist=loadfile -m hypothesis \
	  --hypothesis-profile=fuzz tests $(PYTEST_ARGS)

check: $(VENV)/ready-dev  ## format, lint, types and layers
	$(VENV)/bin/ruff format
	$(VENV)/bin/ruff check --fix
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

browser:  ## a Chromium for the tests of pages, where apt-get can install one
	apt-get install --yes --no-install-recommends chromium

mutate: $(VENV)/ready-dev  ## change 60 places of the library at random, one at a time, and see which tests fail
	$(VENV)/bin/python -m tests.mutate $(MUTATE_ARGS)

screens: $(VENV)/ready-dev  ## stored screens and refusals of every command anew; read the difference before you commit it
	$(VENV)/bin/python -m pytest --quiet tests -m screen --bless

bench: $(VENV)/ready-dev  ## time every benchmark case; figures go to benchmarks/results/
	$(VENV)/bin/python -m benchmarks $(BENCH_ARGS)

# The lowest versions of what pyproject.toml names, and the newest of what these need. PYTHON is the oldest one.
LOWEST := .venv-lowest
lowest: export NUMBA_CACHE_DIR = $(abspath $(LOWEST)/kernels)  # of another numba than that of .venv
lowest:  ## the main job and the fast tests with the lowest versions that pyproject.toml allows
	@$(MAKE) --no-print-directory VENV=$(LOWEST) $(LOWEST)/lowest
	@$(MAKE) --no-print-directory VENV=$(LOWEST) run pytest PYTEST_ARGS="-m 'not slow' $(PYTEST_ARGS)"

docs: $(VENV)/ready-dev  ## the site, in docs/_build/html; a warning is an error
	$(VENV)/bin/sphinx-build -q -W --keep-going -b html docs docs/_build/html

dist: $(VENV)/ready  ## wheel and source distribution, each installed in a clean environment and tried
	rm -rf dist
	$(VENV)/bin/uv build --quiet --no-build-isolation --python $(VENV)/bin/python
	for file in dist/*.whl dist/*.tar.gz; do \
	  rm -rf dist/try && $(PYTHON) -m venv dist/try && \
	  $(UV) sync --python dist/try/bin/python requirements.lock && \
	  $(UV) install --python dist/try/bin/python --no-deps --no-build-isolation $$file && \
	  dist/try/bin/python tests/smoke.py || exit 1; \
	done
	rm -rf dist/try

changelog: $(VENV)/ready-dev  ## gather the entries of changelog.d/ under the version of pyproject.toml
	$(VENV)/bin/towncrier build --yes --version $$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

lock: $(VENV)/ready-dev  ## renew both lock files after a change of pyproject.toml
	$(VENV)/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --python-version 3.11 --output-file requirements.lock pyproject.toml requirements.build.in
	$(VENV)/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --python-version 3.11 --output-file requirements-dev.lock --group dev pyproject.toml requirements.build.in

$(VENV)/bin/uv:
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(VENV)/ready: pyproject.toml requirements.lock | $(VENV)/bin/uv
	$(UV) sync --python $(VENV)/bin/python $(if $(wildcard $(VENV)/ready-dev),requirements-dev.lock,requirements.lock)
	$(UV) install --python $(VENV)/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

# Compiled at once, as tests start many processes.
$(VENV)/ready-dev: pyproject.toml requirements-dev.lock | $(VENV)/bin/uv
	$(UV) sync --compile-bytecode --python $(VENV)/bin/python requirements-dev.lock
	$(UV) install --python $(VENV)/bin/python --no-deps --no-build-isolation --editable .
	$(VENV)/bin/python -m compileall -q src tests benchmarks
	@touch $@ $(VENV)/ready

$(VENV)/lowest: pyproject.toml requirements.lock requirements-dev.lock | $(VENV)/bin/uv
	$(UV) compile --resolution lowest-direct --all-extras --group dev --no-header \
	  --python $(VENV)/bin/python --output-file $(VENV)/lowest.lock pyproject.toml requirements.build.in > /dev/null
	$(UV) sync --python $(VENV)/bin/python $(VENV)/lowest.lock
	$(UV) install --python $(VENV)/bin/python --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/ready $(VENV)/ready-dev

clean:  ## remove the environments and every cache
	rm -rf $(VENV) .venv-* .mypy_cache .ruff_cache .pytest_cache .hypothesis out dist docs/_build docs/reference/api

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 10
