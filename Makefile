# Everything that a checkout needs: a fresh machine with Python (3.11, 3.12 or 3.13, with venv and pip) and make
# is enough. `make PYTHON=/path/to/python3` names the interpreter.

PYTHON ?=
VENV := .venv/bin/python
MANAGE := $(VENV) manage.py
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := help
.PHONY: help venv setup demo run test shots faults chaos mutants bench check openapi format servers stop clean

# The first interpreter that runs and is new enough; else any that runs, to which bootstrap.py says what it lacks.
# Version managers leave programs about that fail when they are run.
define bootstrap
for python in $(if $(PYTHON),"$(PYTHON)",$(VENV) python3.11 python3.12 python3.13 python3); do \
	if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		exec "$$python" config/bootstrap.py; \
	fi; \
done; \
for python in $(if $(PYTHON),"$(PYTHON)",python3); do \
	if "$$python" -c '' 2>/dev/null; then exec "$$python" config/bootstrap.py; fi; \
done; \
echo "toa needs Python 3.11, 3.12 or 3.13, and $(if $(PYTHON),$(PYTHON) does not run,no Python was found)."; \
echo "Install one (Debian, Ubuntu: apt-get install python3 python3-venv), or name it: make PYTHON=/path/to/python3."; \
exit 1
endef

help:
	@echo "make demo      the shop on short windows: what comes due, when, and why; under a minute"
	@echo "make run       web, workers and beat, with the admin at localhost:8000, until Ctrl-C"
	@echo "make test      all checks and tests"
	@echo "make faults    every kind of death at every statement, and real processes killed; QUICK=1 takes a share"
	@echo "make chaos     2,000 orders against an outside with all faults on, workers killed; SEED=1 ORDERS=2000"
	@echo "make mutants   bugs planted in a copy of the source, for the tests to find; some minutes"
	@echo "make bench     speed, beside other schedulers on the same servers; QUICK=1 takes less than five minutes"
	@echo "make shots     pictures of every page of the admin in build/shots: light, dark, on a phone"
	@echo "make check     style, types, layers, missing migrations, stale types"
	@echo "make openapi   write docs/openapi.yaml from the manifests"
	@echo "make format    put the source into its form"
	@echo "make setup     what the others begin with: environment, servers, tables"
	@echo "make servers   start PostgreSQL and Valkey, and say where they are"
	@echo "make stop      stop PostgreSQL and Valkey"
	@echo "make clean     stop them, and remove the environment and all data"
	@echo
	@echo "DATABASE_URL and REDIS_URL name servers to use in place of the checkout's own."

venv:
	@$(bootstrap)

setup: venv
	@$(VENV) -m config.servers start
	@$(VENV) -m config.development

demo: setup
	@$(MANAGE) shop_demo

run: setup
	@$(MANAGE) shop_run

# Scenarios that fire calls hold set by set, as in the whole run, and call by call.
FIRING := $(addprefix tests/cadence/test_,$(addsuffix .py,contention deadlines delays deliveries events poison schedules))

# What starts processes of its own has the machine to itself.
test: setup check
	$(VENV) -m pytest -n 2 -m "not slow and not processes"
	TOA_SETWISE=0 $(VENV) -m pytest -n 2 -m "not slow and not processes" $(FIRING)
	$(VENV) -m pytest -m "processes and not slow"

# From a shop of their own, in a database that is removed again. It needs a Chromium.
shots: setup
	$(VENV) tests/browser/shots.py

FAULTS := tests/faults tests/cadence/test_poison.py tests/cadence/test_contention.py tests/cadence/test_claims.py

# What dies, and what is put right after it, printed as tables; without QUICK=1 in every place, for half an hour.
faults: setup
	$(VENV) -m pytest -s --show-capture=no -m "$(if $(QUICK),not slow,slow or not slow)" $(FAULTS)

# Ends by itself, after two minutes where the machine has nothing else to do.
chaos: setup
	@$(MANAGE) shop_chaos --seed $(or $(SEED),1) --orders $(or $(ORDERS),2000)

# Bugs that are planted in a copy of the source, for the tests of deadlines to find; some minutes.
mutants: setup
	$(VENV) tests/mutants.py

# The peers are for the benchmarks alone. Nothing else should run on the machine.
bench: setup
	$(VENV) -m pip install --quiet --disable-pip-version-check --requirement requirements/bench.txt
	$(VENV) -m benchmarks

check: venv
	$(VENV) -m ruff check .
	$(VENV) -m ruff format --check .
	TOA_SERVERS=off $(VENV) -m mypy
	.venv/bin/lint-imports --no-logo
	$(MANAGE) makemigrations --check --dry-run
	@mkdir -p build
	$(MANAGE) spectacular --validate --fail-on-warn --file build/openapi.yaml
	@diff -u docs/openapi.yaml build/openapi.yaml || { echo "The API has changed: make openapi."; exit 1; }
	$(MANAGE) toa types --check

openapi: venv
	$(MANAGE) spectacular --validate --fail-on-warn --file docs/openapi.yaml

format: venv
	$(VENV) -m ruff check --fix .
	$(VENV) -m ruff format .

servers: venv
	@$(VENV) -m config.servers start
	@$(VENV) -m config.servers status

stop:
	@if [ -x $(VENV) ]; then $(VENV) -m config.servers stop; fi

clean:
	@if [ -x $(VENV) ]; then $(VENV) -m config.servers remove; fi
	rm -rf .venv .data build dist staticfiles .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
