# `make demo` and `make test` set everything up by themselves on a fresh machine.
# `make help` lists the rest.

SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= auto
SEEDS ?= 200
SIZE ?= 2000

.PHONY: help demo test worlds calibration lint format types sql-lint layers check bench example wheel clean chromium

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|' 2>/dev/null \
	  || grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "error: Python 3.11 or newer is needed; say which with: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) \
	  || { echo "error: python3 -m venv failed; on Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

demo: $(STAMP) ## ingest the sample data and write the report
	$(BIN)/ckpt-audit demo

test: $(STAMP) chromium ## every test but the benches
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not bench"

chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing chromium for the browser tests (apt-get)"; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 \
	      || echo "chromium could not be installed: the browser tests will be skipped"; \
	  else \
	    echo "no chromium here: the browser tests will be skipped (apt install chromium)"; \
	  fi; }

lint: $(STAMP) ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP) ## let ruff and sqlfluff tidy up
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/sqlfluff fix --quiet sql

types: $(STAMP) ## mypy, strict
	$(BIN)/mypy

sql-lint: $(STAMP) ## sqlfluff
	$(BIN)/sqlfluff lint --processes 0 sql

layers: $(STAMP) ## import-linter: every module in its layer
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

check: lint types layers sql-lint test ## all of them

worlds: $(STAMP) ## 200 random worlds against their truth, and what differed
	PYTHONPATH=. $(BIN)/python -m tests.worlds --seeds $(SEEDS)

calibration: $(STAMP) ## what the statistics promise against simulated truth: the tables of docs/statistics.md
	PYTHONPATH=. $(BIN)/python -m tests.calibration --size $(SIZE)

bench: $(STAMP) ## speed, with the mix it was measured on
	$(BIN)/python -m pytest -m bench -s tests/bench/bench_*.py

example: $(STAMP) chromium ## make reports/example and the pictures of docs/ anew
	$(BIN)/ckpt-audit demo -o reports/example/report.html
	$(BIN)/ckpt-audit --quiet model --c 4m --m 6h --d 5m --r 10m --what-if --figure docs/model.png >/dev/null
	@browser=$$(command -v chromium || command -v chromium-browser || command -v google-chrome) \
	  && "$$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,1500 \
	     --screenshot="$(CURDIR)/docs/report.png" "file://$(CURDIR)/reports/example/report.html" >/dev/null 2>&1 \
	  && echo "docs/report.png" || echo "no chromium: docs/report.png was left as it is"

wheel: $(STAMP) ## build the wheel, and test what is in it
	$(BIN)/python -m pytest -m wheel tests/test_wheel.py
	$(BIN)/python -m build --wheel --outdir dist .

clean: ## remove what was made, the environment too
	rm -rf $(VENV) build dist pipeline/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	  .import_linter_cache .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
