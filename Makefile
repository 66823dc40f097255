# Every target sets up the environment that it needs in .venv from a bare checkout. `make help` lists them.
PYTHON ?= python3
VENV   ?= .venv
CLASS  ?= build/sample_class
TORCH  := torch==2.13.0
# An index that holds CPU builds of torch (pytorch.org's install page names it): make TORCH_INDEX=<url> ...
TORCH_INDEX ?=

BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check
# pip would compile 14,000 files one after another, most of the time that an installation takes.
COMPILE := $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
FAST := "not slow and not browser and not nightly"
QUICK := "not slow and not longer and not browser and not nightly"
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# A run of the tests starts hundreds of processes; where Python keeps no bytecode, each compiles all of the library.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
# What `make mutants` draws: make mutants MUTANTS="--seed 7 --count 20 autograder/grading"
MUTANTS ?= --count 100

.PHONY: help grade test nightly mutants check lab book pdf epub wheel chapters fit clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

$(VENV)/.ready: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
ifneq ($(TORCH_INDEX),)
	@echo "Installing $(TORCH) from $(TORCH_INDEX)"
	@$(PIP) install -q --no-compile --no-deps --index-url $(TORCH_INDEX) $(TORCH)
else
	@if $(PIP) install --dry-run $(TORCH) 2>/dev/null | grep -qiE 'would install.*(nvidia|cuda|triton)'; then \
	  echo "Note: pip offers only the CUDA build of $(TORCH) here: several GB will be downloaded."; \
	  echo "      For the CPU build (about 200 MB), stop and run: make TORCH_INDEX=<index of CPU builds, see pytorch.org> $(MAKECMDGOALS)"; \
	fi
endif
	@echo "Installing gpubook and its dependencies into $(VENV) (about 1.5 GB on disk, one to two minutes)"
	@$(PIP) install -q --no-compile -c constraints.txt -e '.[dev]'
	@$(COMPILE)
	@touch $(VENV)/.reader $@

# What a reader needs, without torch and the developers' tools; an environment that has everything has this too.
$(VENV)/.reader: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@if [ $(VENV)/.ready -nt pyproject.toml ] && [ $(VENV)/.ready -nt constraints.txt ]; then :; else \
	  echo "Installing gpubook into $(VENV), without torch (about 0.8 GB on disk, one to two minutes)"; \
	  $(PIP) install -q --no-compile -c constraints.txt -e . || exit 1; $(COMPILE); \
	fi
	@touch $@

grade: $(VENV)/.ready  ## grade the sample class: release, six learners, sandboxed grading, gradebook, feedback
	@$(BIN)/python -m tests.sample_class $(CLASS)
	@$(BIN)/gpubook grade $(CLASS) 03-rooflines --cell-limit 6

test: $(VENV)/.ready  ## run the tests (some 35 minutes on two cores), in a browser too if Chromium or Chrome is installed
	@$(PYTEST) -m "not nightly"

nightly: $(VENV)/.ready  ## run every test, reusing no result of an earlier run; show line coverage, then `make mutants`
	@KEPT=rebuild $(PYTEST)
	@$(BIN)/python -m coverage run -m pytest -q -m $(FAST) tests/autograder tests/hwlib
	@$(BIN)/python -m coverage report
	@$(MAKE) mutants

mutants: $(VENV)/.ready  ## put 100 errors into copies of the source, count those that fast tests catch (an hour at most)
	@$(BIN)/python -m tests.mutants $(MUTANTS)

check: $(VENV)/.ready  ## lint, types and the fast tests (a minute and a half)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check -q .
	@$(BIN)/mypy >$(VENV)/.types 2>&1 & types=$$!; $(PYTEST) -q -m $(QUICK); tests=$$?; \
	  wait $$types; types=$$?; cat $(VENV)/.types; exit $$((tests || types))

lab: $(VENV)/.reader  ## open the book in JupyterLab, with the checks live
	@$(BIN)/gpubook lab

book: $(VENV)/.ready  ## build the HTML book in build/html (COURSE=1: without solutions)
	@$(BIN)/gpubook book $(if $(COURSE),--course)

pdf: book  ## print the whole book in build/gpubook.pdf, with Chromium (SOLUTIONS=1: solutions at the end)
	@$(BIN)/gpubook pdf $(if $(SOLUTIONS),--solutions)

epub: book  ## write the whole book as build/gpubook.epub
	@$(BIN)/gpubook epub

wheel: book  ## build the wheel in dist/, with the figures that a fresh notebook shows
	@$(PIP) wheel -q --no-deps -w dist .

chapters: $(VENV)/.ready  ## generate chapters/ from solutions/
	@$(BIN)/gpubook chapters

fit: $(VENV)/.ready  ## fit the constants to the measured rows and write their tables (some minutes; what stands stays)
	@$(BIN)/python -m benchmarks.fit

clean:  ## remove everything that can be rebuilt (never your copy of the book in study/)
	rm -rf .build build .pytest_cache .mypy_cache .ruff_cache
