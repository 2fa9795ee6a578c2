"""Extras: which package belongs to which, what works without any, and the command that installs one.

What is refused where a package is missing stands in `tests/helpers/refusals/missing.py`.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from ground import extras
from ground.errors import InputError
from helpers import apart
from helpers.refusals import missing

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ANSWERS = "item,text,answer,model\na,Tea.,yes,m\na,Tea!,no,m\n"
SOURCES = '[{"item": "a", "text": "Tea is good.", "paraphrases": ["Good is tea.", "I like tea."]}]'
CORE = [
    "inference import table answers.csv --out run --item-column item --text-column text --answer-column answer "
    "--options yes=yes;no=no --language en --model-column model",
    "inference status asked",
    "inference paraphrase combine a=one.json b=other.json --out both.jsonl",
    "inference paraphrase sheet --items one.json --each 2 --out sheet.csv",
    "analysis table asked stability -p resamples=20",
    "analysis table asked mixed",
    "analysis export asked --as hf --out exported",
    "analysis export asked --as eee --out exported",
    "analysis table --list",
    "analysis features asked",
]


@pytest.mark.parametrize("call", CORE, ids=lambda call: " ".join(call.split()[1:3]))
def test_what_pip_installs_without_an_extra_is_enough(call, tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    missing.files(folder)
    (folder / "answers.csv").write_text(ANSWERS, encoding="utf-8")
    for name in ("one.json", "other.json"):
        (folder / name).write_text(SOURCES, encoding="utf-8")
    ended = apart.call(
        call.split(),
        folder,
        tmp_path / "notes",
        seconds=30,
        without=tuple(extras.EXTRA_BY_MODULE),
    )
    assert ended.status == 0, ended.err[-2000:]
    assert "Traceback" not in ended.err


def test_every_module_belongs_to_the_extra_that_installs_it():
    known = PROJECT["project"]["optional-dependencies"]
    # These come with what the extra names.
    within = {"bs4": "nbconvert", "jupyter_client": "ipykernel", "nbclient": "nbconvert", "nbformat": "nbconvert"}
    for module, holding in extras.EXTRA_BY_MODULE.items():
        name = within.get(module, module).replace("_", "-")
        for extra in [holding] if isinstance(holding, str) else holding:
            assert any(re.match(rf"{name}\b", package.replace("_", "-")) for package in known[extra]), module


@pytest.mark.parametrize(("preferred", "named"), [("", "[japanese]"), ("features", "[features]")])
def test_of_several_extras_the_one_of_the_wing_is_named(preferred, named):
    with pytest.raises(InputError) as refused, extras.convert_import_errors_to_install_advice("this", preferred):
        raise ModuleNotFoundError(name="fugashi.cli")
    assert named in str(refused.value)


def test_a_checkout_is_named(monkeypatch, tmp_path):
    assert (
        extras.build_install_command("models") == f"pip install -e {ROOT}[models]" or f"pip install -e '{ROOT}[models]'"
    )
    (tmp_path / "my waver").mkdir()
    (tmp_path / "my waver" / "pyproject.toml").touch()
    monkeypatch.setattr(extras, "__file__", str(tmp_path / "my waver" / "wing" / "extras.py"))
    assert extras.build_install_command("models", "vllm") == f"pip install -e '{tmp_path}/my waver[models,vllm]'"
    monkeypatch.setattr(extras.os, "name", "nt")
    assert extras._quote_shell_word("a[b]") == '"a[b]"'


def test_what_pip_installed_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(extras, "__file__", str(tmp_path / "site-packages" / "wing" / "extras.py"))
    wheel = tmp_path / "a wheel.whl"
    wheel.touch()
    for noted, said in {
        None: "pip install 'waver-lm[api]'",
        f'{{"url": "{wheel.as_uri()}", "archive_info": {{}}}}': f"pip install '{wheel}[api]'",
        f'{{"url": "{wheel.as_uri()}.gone", "archive_info": {{}}}}': "pip install 'waver-lm[api]'",
        '{"url": "https://here/waver.git", "vcs_info": {"vcs": "git", "commit_id": "1"}}':
            "pip install 'waver-lm[api] @ git+https://here/waver.git'",
    }.items():  # fmt: skip
        monkeypatch.setattr(extras, "_read_pip_direct_url_text", lambda noted=noted: noted)
        assert extras.build_install_command("api") == said


def test_a_fault_that_is_no_missing_extra_keeps_its_traceback():
    with pytest.raises(ModuleNotFoundError), extras.convert_import_errors_to_install_advice("this"):
        import no_such_module  # noqa: F401


def test_nothing_tells_to_install_by_another_name():
    """`waver` on the package index is somebody else's."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    told = re.compile(r"pip install (-\S+ )*[\"']?waver(?!-lm)\b|[\"']waver\[")
    wrong = []
    for name in listed:
        file = ROOT / name
        if file.suffix in {".md", ".py", ".toml", ".yml", ".ipynb", ".j2", ""} and file.is_file():
            wrong += [
                f"{name}: {found[0]}" for found in told.finditer(file.read_text(encoding="utf-8", errors="replace"))
            ]
    assert [each for each in wrong if not each.startswith("tests/ground/test_extras.py")] == []
    assert PROJECT["project"]["name"] == extras.DISTRIBUTION == "waver-lm"
