# Two commands for a fresh clone: `make demo` and `make test`. Each builds .venv once.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint types pytest chromium docs experiments-quick experiments gallery benchmark bench bench-peers oldest clean

demo: .venv/installed
	$(BIN)/condal demo

test: lint types pytest experiments-quick

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/installed
	$(BIN)/mypy

pytest: .venv/installed chromium
	$(BIN)/pytest

# Debian's Chromium, in which the tests look at pages; they are skipped where it cannot be had.
APT := apt-get install -y -qq --no-install-recommends
chromium:
	@command -v chromium >/dev/null || (command -v apt-get >/dev/null && test "$$(id -u)" = 0 \
	  && ($(APT) chromium || (apt-get update -qq && $(APT) chromium)) >/dev/null 2>&1) \
	  || echo "no Chromium, so the tests of pages in a browser are skipped: apt-get install chromium"

# The site, in docs/_build: open docs/_build/index.html. The tests build it as well, with warnings as
# errors too.
docs: .venv/installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -q -n -W --keep-going docs docs/_build

# The paper's experiments on small generated instances, afresh; in minutes.
experiments-quick: .venv/installed
	rm -rf .experiments-quick
	$(BIN)/condal experiment --quick --out .experiments-quick

# The paper's experiments in full, in the folder `out`; DATA is a folder that holds the instances.
experiments: .venv/installed
	$(BIN)/condal experiment all --out out $(if $(DATA),--data $(DATA))

# The pictures of docs/gallery.md, each by its own example in full; in minutes.
gallery: .venv/installed
	mkdir -p docs/gallery
	cd docs/gallery && for example in ../../examples/[0-9]*.py; do \
	  OPENBLAS_NUM_THREADS=1 ../../$(BIN)/python $$example || exit 1; done

benchmark: .venv/installed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks

# condal against its peers: `make bench SETS="gset theta" DATA=folder`.
SETS ?= gset tori theta kmeans growth
bench: .venv/installed
	$(BIN)/condal bench $(SETS) $(if $(DATA),--data $(DATA))

# The peers that PyPI and Debian have; the latter where there is apt-get and the right to use it.
# With Debian's reference BLAS in the place of OpenBLAS, CSDP is ten times slower than it need be.
DEBIAN_PEERS := coinor-csdp sdpa dsdp libopenblas0-pthread
bench-peers: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	apt-get install -y --no-install-recommends $(DEBIAN_PEERS) || echo "by hand: $(DEBIAN_PEERS)"
	$(BIN)/condal bench --list

# The oldest NumPy and SciPy that are promised to work.
oldest: .venv-oldest/installed
	.venv-oldest/bin/pytest

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

.venv-oldest/installed: pyproject.toml
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' 'numpy==1.24.*' 'scipy==1.10.*' 'pandas<2.3' 'networkx<3.5'
	touch $@

clean:
	rm -rf .venv .venv-oldest .experiments-quick docs/_build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
