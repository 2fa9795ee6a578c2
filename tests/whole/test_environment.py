"""environment.yml, pyproject.toml and lock.txt name the same packages, and no version outside the bounds."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
# conda-forge's name for what the Python package index calls otherwise
CONDA_NAME = {
    "duckdb": "python-duckdb",
    "great_tables": "great-tables",
    "ray": "ray-data",
    "matplotlib": "matplotlib-base",
    "torch": "pytorch",
    "vaderSentiment": "vadersentiment",
}
# What only conda can provide: the interpreter, R and its packages, a spaCy model
CONDA_ONLY = re.compile(r"python|pip|r-[a-z0-9.]+|spacy-model-en_core_web_sm")


def split(requirement: str) -> tuple[str, str]:
    name, bounds = re.fullmatch(r"(?:\w+::)?([A-Za-z0-9_.-]+)(?:\[\w+\])?\s*(.*)", requirement).groups()
    return name, ",".join(sorted(bounds.replace(" ", "").split(",")))


def pyproject() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = [
        *project["dependencies"],
        *(r for extra in project["optional-dependencies"].values() for r in extra),
    ]
    return {CONDA_NAME.get(name, name): bounds for name, bounds in map(split, requirements)}


def conda() -> dict[str, str]:
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    by_pip = next(d["pip"] for d in dependencies if isinstance(d, dict))
    return dict(split(d) for d in [*dependencies, *by_pip] if isinstance(d, str) and not d.startswith("--"))


def test_same_packages_and_bounds():
    shared = {name: bounds for name, bounds in conda().items() if not CONDA_ONLY.fullmatch(name)}
    assert shared == pyproject()


def test_the_full_install_is_there():
    assert {"vllm", "pymer4", "spacy-model-en_core_web_sm", "r-report", "r-lme4", "r-lmertest"} <= conda().keys()


def test_python_bound_is_the_one_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] in conda()["python"]


def test_environment_can_be_solved():
    solver = next(filter(None, map(shutil.which, ("micromamba", "mamba", "conda"))), None)
    if solver is None:
        pytest.skip("not solved here: no conda, mamba or micromamba on this machine")
    done = subprocess.run(
        [solver, "env", "create", "--dry-run", "--name", "waver-solve", "--file", str(ROOT / "environment.yml")],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    if re.search(r"connection|resolve host|CondaHTTPError", done.stderr, re.I):
        pytest.skip("not solved here: the conda channels cannot be reached")
    assert done.returncode == 0, done.stderr


def read_lock(name: str) -> dict[str, set[str]]:
    """The versions that a file of constraints pins each package to: several where they depend on the Python."""
    pins: dict[str, set[str]] = {}
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            package, _, version = line.partition(" ;")[0].partition("==")
            pins.setdefault(canonicalize_name(package), set()).add(version)
    return pins


def list_what_make_installs() -> list[Requirement]:
    """What the two commands, `make test-ray`, `make release` and `make site` name: packages, and extras of Waver."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = ",".join(re.findall(r"^(?:SETUP|REFERENCE)_EXTRAS := (.+)$", makefile, re.M)).split(",")
    named = re.findall(r"^(?:CHECKING|RELEASING|SITE_BUILDING) := (.+)$", makefile, re.M)
    lines = [*project["dependencies"], *(quoted for line in named for quoted in re.findall(r"'([^']+)'", line))]
    lines += [line for extra in (*extras, "ray") for line in project["optional-dependencies"][extra]]
    return [Requirement(line) for line in lines]


def test_the_lock_pins_what_make_installs_within_its_bounds():
    lock, requirements = read_lock("lock.txt"), list_what_make_installs()
    assert len(requirements) > 50
    for requirement in requirements:
        versions = lock.get(canonicalize_name(requirement.name), set())
        assert versions, f"{requirement.name} is not in lock.txt: make lock"
        assert all(version in requirement.specifier for version in versions), f"{requirement}: make lock"


def test_the_lock_keeps_to_the_versions_that_have_a_reason():
    lock = read_lock("lock.txt")
    assert {package: lock[package] for package in read_lock("constraints.txt")} == read_lock("constraints.txt")
