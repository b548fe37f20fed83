# For a fresh clone: `make demo`, `make check` (under a minute) and `make test`. Each installs what it
# needs, once, from a lock.
PYTHON ?= python3
BIN := .venv/bin
PACKAGES := --editable . --editable ./lab --editable ./mpi
PIP := -m pip --disable-pip-version-check install --quiet
LOCK := requirements-dev.lock
DEMO_LOCK := requirements-demo.lock
WORKERS ?= 2
PYTEST := $(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal

.PHONY: demo check test lock audit lint types pytest chromium test-distributed mpi docs package smoke experiments-quick experiments paper gallery benchmark bench bench-peers soak fuzz oldest clean

demo: .venv-demo/installed
	PYTHONPATH=src .venv-demo/bin/python -m condal demo

check: lint types
	$(PYTEST) -m fast

test: lint types pytest experiments-quick
	@if $(MAKE) --silent mpi; then $(MAKE) --no-print-directory test-distributed; \
	  else echo "so the tests over many ranks are skipped"; fi

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/typos

types: .venv/installed
	$(BIN)/mypy

pytest: .venv/installed chromium
	$(PYTEST)

# Debian's Chromium, in which the tests look at pages; they are skipped where it cannot be had.
APT := apt-get install -y -qq --no-install-recommends
chromium:
	@command -v chromium >/dev/null || (command -v apt-get >/dev/null && test "$$(id -u)" = 0 \
	  && ($(APT) chromium || (apt-get update -qq && $(APT) chromium)) >/dev/null 2>&1) \
	  || echo "no Chromium, so the tests of pages in a browser are skipped: apt-get install chromium"

# A problem over many ranks, on up to 4 of them: by Debian's PETSc, SLEPc and Open MPI, which are
# built for Debian's own Python and NumPy, and so in an environment of these. pip sees both there,
# and adds what is named below and condal itself; docs/distributed.md has the same in few words.
RANKS := .venv-distributed
DEBIAN_MPI := python3-venv python3-scipy python3-mpi4py python3-petsc4py python3-slepc4py openmpi-bin
ON_RANKS := attrs click filelock hatchling hypothesis iniconfig markdown-it-py mdurl packaging pathspec \
  pluggy pygments pytest rich sortedcontainers tomlkit trove-classifiers
mpi:
	@dpkg -s $(DEBIAN_MPI) >/dev/null 2>&1 \
	  || (command -v apt-get >/dev/null && test "$$(id -u)" = 0 \
	  && ($(APT) $(DEBIAN_MPI) || (apt-get update -qq && $(APT) $(DEBIAN_MPI))) >/dev/null 2>&1) \
	  || (echo "PETSc, SLEPc or MPI is missing: apt-get install $(DEBIAN_MPI)"; exit 1)

test-distributed: mpi $(RANKS)/installed
	OPENBLAS_NUM_THREADS=1 $(RANKS)/bin/python -m pytest mpi/tests/ranks

$(RANKS)/installed: $(LOCK) pyproject.toml lab/pyproject.toml mpi/pyproject.toml | mpi
	/usr/bin/python3 -m venv --system-site-packages $(RANKS)
	awk -v names=' $(ON_RANKS) ' '/^[^ ]/ { split($$1, part, "=="); \
	  keep = index(names, " " part[1] " ") } keep' $(LOCK) >$(RANKS)/lock
	$(RANKS)/bin/python $(PIP) --require-hashes --only-binary :all: --requirement $(RANKS)/lock
	$(RANKS)/bin/python $(PIP) --no-index --no-deps --no-build-isolation $(PACKAGES)
	touch $@

# The site, in docs/_build: open docs/_build/index.html. The tests build it as well, with warnings as
# errors too.
docs: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -q -n -W --keep-going docs docs/_build

# The sdist, the wheel built from it, their metadata checked, and the wheel tried where nothing else is.
package:
	rm -rf dist .venv-package
	$(PYTHON) -m venv .venv-package
	.venv-package/bin/python $(PIP) build twine
	for package in . lab mpi; do .venv-package/bin/python -m build --outdir dist $$package || exit 1; done
	.venv-package/bin/twine check --strict dist/*
	$(PYTHON) -m venv --clear .venv-package
	.venv-package/bin/python $(PIP) "$$(echo dist/condal-*.whl)[cli]"
	cd dist && ../.venv-package/bin/condal --version && ../.venv-package/bin/condal demo

# The wheel of `make package` with the extra `all`, in an environment of PYTHON that holds nothing
# else: each door answers a small problem.
smoke:
	$(PYTHON) -m venv --clear .venv-smoke
	.venv-smoke/bin/python $(PIP) "$$(echo dist/condal-*.whl)[all]"
	cd dist && ../.venv-smoke/bin/python ../tests/smoke.py

# The paper's experiments on small generated instances, afresh; in minutes.
experiments-quick: .venv/installed
	rm -rf .experiments-quick
	$(BIN)/condal experiment --quick --out .experiments-quick

# The paper's experiments in full, in the folder `out`; DATA is a folder that holds the instances.
experiments: .venv/installed
	$(BIN)/condal experiment all --out out $(if $(DATA),--data $(DATA))

# The tables and figures of docs/paper.md and docs/rates.md, from the stored results; FROM=out stores
# those of `out` first.
paper: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m condal_lab.benchmarks.paper $(FROM)

# What the gallery shows: each example draws NAME.png and prints NAME.txt; in a minute or two.
gallery: .venv/installed
	cd docs/gallery && for example in ../../examples/[0-9]*.py; do \
	  name=$$(basename $$example .py); \
	  OPENBLAS_NUM_THREADS=1 ../../$(BIN)/python $$example >$${name#*_}.txt || exit 1; done

# Measured claims: `make benchmark NAMES="large threads"`.
NAMES ?= oracle penalty cvxpy_maxcut walk
benchmark: .venv/installed
	$(BIN)/python -m condal_lab.benchmarks $(NAMES)

# condal against its peers: `make bench SETS="gset theta" DATA=folder`.
SETS ?= gset tori theta kmeans growth
bench: .venv/installed
	$(BIN)/condal bench $(SETS) $(if $(DATA),--data $(DATA))

# The peers that PyPI and Debian have; the latter where there is apt-get and the right to use it.
# With Debian's reference BLAS in the place of OpenBLAS, CSDP is ten times slower than it need be.
DEBIAN_PEERS := coinor-csdp sdpa dsdp libopenblas0-pthread
bench-peers: .venv/installed
	$(BIN)/python $(PIP) --editable . --editable './lab[bench]'
	apt-get install -y --no-install-recommends $(DEBIAN_PEERS) || echo "by hand: $(DEBIAN_PEERS)"
	$(BIN)/condal bench --list

# The long forms of the tests, on 2 cores, with a table at the end: planted problems with exact truth
# through every door, thousands of problems against other solvers, kills, files of any bytes.
# `make soak SECONDS=3600`; `make soak SUITES=planted COUNT=100000 CORES=1 SEED=500` for one suite,
# for as many problems, and for others than before; DOORS=conic for conic programs only.
SUITES ?=
CORES ?= 2
soak: .venv/installed
	PYTHONPATH=tests SOAK_SECONDS=$(SECONDS) SOAK_MINUTES=$(SOAK_MINUTES) SOAK_COUNT=$(COUNT) \
	  SOAK_SEED=$(SEED) SOAK_DOORS='$(DOORS)' SOAK_PROCESSES=$(CORES) $(BIN)/python -m soak $(SUITES)

# Every reader under Atheris, out of CI, each for its share of the seconds; what it learns stays in
# fuzz/corpus, and what a reader does wrong in fuzz/wrong.
fuzz: .venv/installed
	$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python $(PIP) 'atheris>=2.3'
	PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 nice $(BIN)/python -m fuzz --seconds $(or $(SECONDS),300)

# The oldest NumPy and SciPy that are promised to work.
oldest: .venv-oldest/installed
	.venv-oldest/bin/pytest --numprocesses $(WORKERS) --dist worksteal

# The demo imports condal from src, so nothing is built; bytecode is made for what it imports only.
.venv-demo/installed: $(DEMO_LOCK)
	$(PYTHON) -m venv .venv-demo
	.venv-demo/bin/python $(PIP) --no-compile --require-hashes --only-binary :all: --requirement $(DEMO_LOCK)
	touch $@

# Every file that is installed is known by its digest, and none is built but condal itself, offline.
.venv/installed: $(LOCK) pyproject.toml lab/pyproject.toml mpi/pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) --require-hashes --only-binary :all: --requirement $(LOCK)
	$(BIN)/python $(PIP) --no-index --no-deps --no-build-isolation $(PACKAGES)
	touch $@

# Both locks: the newest releases that pyproject.toml allows, for every system and Python it allows,
# with the digests of all their files. Run `make audit` and `make test` before you commit them.
COMPILE := .venv-lock/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 \
  --generate-hashes --custom-compile-command 'make lock' pyproject.toml
lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python $(PIP) 'uv>=0.8'
	$(COMPILE) --upgrade --extra all --group dev --output-file $(LOCK)
	$(COMPILE) --extra cli --constraint $(LOCK) --no-annotate --output-file $(DEMO_LOCK)

# Known vulnerabilities of what is locked, by a service on the network. `make test` compares the lock
# with pyproject.toml and with what is installed, and checks licences.
audit: .venv/installed
	$(BIN)/python -m pip check
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python $(PIP) pip-audit
	.venv-lock/bin/pip-audit --disable-pip --require-hashes --requirement $(LOCK)

.venv-oldest/installed: pyproject.toml
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python $(PIP) 'pip>=25.1'
	.venv-oldest/bin/python $(PIP) --editable '.[cli,report,sklearn]' --editable './lab[dask]' --editable ./mpi --group dev 'numpy==1.24.*' 'scipy==1.10.*' 'pandas<2.3' 'networkx<3.5'
	touch $@

clean:
	rm -rf .venv .venv-demo .venv-oldest .venv-lock .venv-package .venv-smoke $(RANKS) .experiments-quick dist docs/_build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
