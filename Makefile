# `make run` and `make test` need Python 3.11+ and make; they set up everything else in .venv.
# The newest Python that Ostinato is tested with; set PYTHON to take another.
PYTHON ?= $(firstword $(shell .ci/pythons))
BIN := .venv/bin
# Some machines forbid Python to keep compiled files; the tests start hundreds of processes, which would each compile everything again.
unexport PYTHONDONTWRITEBYTECODE
SHELL := bash
.SHELLFLAGS := -o pipefail -c
# Twice as many as two cores: many tests wait for processes and for the database.
WORKERS ?= 4
# Python compiles what it loads; pip would compile everything, one file after the other, for half a minute.
PIP := -m pip install --disable-pip-version-check --no-compile --progress-bar=on -c constraints.txt

.PHONY: run test floors mutants check bench soak clean
.DEFAULT_GOAL := test

# What running needs.
.venv/run-ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Ostinato needs Python 3.11 or newer; none was found. Set PYTHON=/path/to/python3."; exit 1; }
	@echo "1/2 Making .venv with $(PYTHON)"
	@test "$$($(BIN)/python -V 2>&1)" = "$$($(PYTHON) -V)" || $(PYTHON) -m venv --clear .venv
	@echo "2/2 Installing Ostinato and what it needs"
	@$(BIN)/python $(PIP) -e . | $(BRIEFLY)
	@touch $@

# What the tests need beyond that.
.venv/ready: .venv/run-ready
	@echo "Installing what the tests need (some 500 MB)"
	@$(BIN)/python $(PIP) -e '.[ical,temporal,test]' | $(BRIEFLY)
	@touch $@

# One line for each package as it comes, none for what is there already.
BRIEFLY := sed -nu -e 's/^Collecting \([^ ;]*\).*/  \1/p' -e '/^Successfully/p' -e '/^ERROR/p'

# The older client that the wire is tested with, beside the newest.
.venv-temporal-1.34/ready: constraints.txt | .venv/ready
	$(PYTHON) -m venv .venv-temporal-1.34
	sed 's/^temporalio==.*/temporalio==1.34.0/' constraints.txt > .venv-temporal-1.34/constraints.txt
	.venv-temporal-1.34/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -c .venv-temporal-1.34/constraints.txt temporalio
	@touch $@

run: .venv/run-ready  ## the engine and the API on ostinato-demo.db with a few demo schedules, living in the terminal
	@$(BIN)/ostinato serve --demo

STYLE = $(BIN)/ruff check --quiet . && $(BIN)/ruff format --quiet --check .
CHECKS = $(BIN)/mypy && $(BIN)/lint-imports && $(BIN)/python .ci/wording

check: .venv/ready  ## style, types, layers and wording
	$(STYLE) && $(CHECKS)

# The style is checked first, in a second. Then one process compiles the tests, so that the workers need not each do it,
# while another runs the other checks; these go on beside the tests, and what they complain about is printed last.
test: .venv/ready .venv-temporal-1.34/ready  ## everything
	@$(STYLE)
	@{ $(CHECKS); } > .venv/check.log 2>&1 & checks=$$!; \
	echo "Compiling the tests"; $(BIN)/pytest --collect-only -qq -m "not soak" > .venv/collect.log || { cat .venv/collect.log; exit 1; }; \
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not soak" --durations=15; tests=$$?; \
	wait $$checks || { cat .venv/check.log; echo "the checks failed; what they say is above, and in .venv/check.log"; exit 1; }; exit $$tests

# An environment of another Python: .venv-3.12/ready.
.PRECIOUS: .venv-3.%/ready
.venv-3.%/ready: pyproject.toml constraints.txt
	$(shell .ci/pythons 3.$*) -m venv .venv-3.$*
	.venv-3.$*/bin/python $(PIP) --quiet -e '.[ical,floors]'
	@touch $@

# What differs between Pythons: the event loop, sqlite3, types. The rest is the newest one's.
floors-3.%: .venv-3.%/ready
	.venv-3.$*/bin/pytest -n $(WORKERS) -q -m "not soak" -k "not postgres and not oracle" tests/unit/when tests/unit/functions tests/store tests/scenario/test_*.py tests/scenario/engine tests/scenario/functions tests/scenario/schedules tests/scenario/testing

floors:  ## the fast floors on every other Python of this machine
	@for python in $(filter-out $(PYTHON),$(shell .ci/pythons)); do \
		$(MAKE) --no-print-directory floors-$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])') || exit 1; done

mutants: .venv/ready  ## breaks the engine on purpose, one thing at a time, and shows that the tests see it
	$(BIN)/python -m tests.mutants

soak: .venv/ready  ## the longer proofs
	$(BIN)/pytest -n 2 -m soak

.venv/peers: .venv/ready
	$(BIN)/python $(PIP) --quiet -e '.[bench]'
	@touch $@

bench: .venv/peers  ## figures, as ratios, in one run
	$(BIN)/python -m bench

clean:
	rm -rf .venv .venv-3.* .venv-temporal-1.34 .mypy_cache .ruff_cache .pytest_cache dist
