# `make demo` and `make test` do all the set-up themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# empty where the packages of the browser app are not installed
NPM := $(if $(wildcard web/node_modules),$(if $(shell command -v npm),npm --prefix web --silent run))
NO_NPM := it needs npm, and npm ci in web/

PIP_INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints/ci.txt
EXTRAS := train,export,openvino,int8,litert,benchmark,docs,dev

.PHONY: demo test coverage lint format web docs constraints dist clean

$(VENV)/.base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.base constraints/ci.txt
	$(PIP_INSTALL) --editable '.[$(EXTRAS)]'
	touch $@

demo: $(VENV)/.base
	$(BIN)/mobilevos demo --output out/demo --force

# one thread a process: threads of two processes that wait for each other by spinning make both crawl
# what fails among others is run once more, in full view. A process that was lost ends a run, which would wait for it for
# ever; what it has not run by then (tests/lost.py) is run in the next, by a new process
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest
AGAIN := --last-failed --last-failed-no-failures none
test: $(VENV)/.dev
	$(PYTEST) --numprocesses auto --dist loadfile --max-worker-restart 0 --durations=15 || \
	{ echo "once more: what failed"; $(PYTEST) $(AGAIN) --numprocesses 1 --max-worker-restart 0; } || \
	{ echo "once more: what failed"; $(PYTEST) $(AGAIN) --numprocesses 1 --max-worker-restart 0; } || \
	{ echo "once more, in full view: what failed"; $(PYTEST) $(AGAIN); }

# the same, and which lines no test has run
coverage: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist loadfile --cov --cov-report=term --cov-report=xml:out/coverage.xml

# the browser app with the shipped weights, into the package; after new weights
web: $(VENV)/.dev
	$(BIN)/python -m mobilevos.export.tflite mobilenetv2-lite web/public/model
	$(BIN)/python web/scripts/sample.py web/public/sample.mp4
	cd web && npm ci && npm run build

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests docs constraints web/scripts
	$(BIN)/ruff format --check src tests docs constraints web/scripts
	$(BIN)/mypy
	$(if $(NPM),$(NPM) check && $(NPM) format:check,@echo "the browser app is not checked: $(NO_NPM)")

format: $(VENV)/.dev
	$(BIN)/ruff check --fix src tests docs constraints web/scripts
	$(BIN)/ruff format src tests docs constraints web/scripts
	$(if $(NPM),$(NPM) format,@echo "the browser app is not formatted: $(NO_NPM)")

# the versions that are installed now, for CI; only after all tests have passed with them
constraints: $(VENV)/.dev
	$(BIN)/python constraints/write.py > constraints/ci.txt.part
	mv constraints/ci.txt.part constraints/ci.txt

# the sdist, and the wheel that is built from it
dist: $(VENV)/.dev
	$(BIN)/python -m build --outdir dist

clean:
	rm -rf $(VENV) out build dist
