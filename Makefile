# `make run` and `make test` need Python 3.11+ and make; they set up everything else in .venv.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin

.PHONY: run test check bench soak clean
.DEFAULT_GOAL := test

.venv/ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Ostinato needs Python 3.11 or newer; none was found. Set PYTHON=/path/to/python3."; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[ical,temporal,test]'
	@touch $@

# The older client that the wire is tested with, beside the newest.
.venv-temporal-1.34/ready: constraints.txt | .venv/ready
	$(PYTHON) -m venv .venv-temporal-1.34
	sed 's/^temporalio==.*/temporalio==1.34.0/' constraints.txt > .venv-temporal-1.34/constraints.txt
	.venv-temporal-1.34/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-temporal-1.34/constraints.txt temporalio
	@touch $@

run: .venv/ready  ## the engine and the API on ostinato.db with a few demo schedules, living in the terminal
	@$(BIN)/ostinato serve --demo

check: .venv/ready  ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check .venv-temporal-1.34/ready  ## everything
	$(BIN)/pytest -n 2 -m "not soak"

soak: .venv/ready  ## the longer proofs
	$(BIN)/pytest -n 2 -m soak

.venv/peers: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@touch $@

bench: .venv/peers  ## figures, as ratios, in one run
	$(BIN)/python -m bench

clean:
	rm -rf .venv .venv-temporal-1.34 .mypy_cache .ruff_cache .pytest_cache dist
