"""A protocol and an engine of another package are asked as ours are, and the run folder names the package."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

from ground import outside_rooms
from ground.errors import InputError, NoSuchModel
from helpers.commands import ROOT
from helpers.outside_packages import write_package
from inference import demo, engines, protocols
from inference.__main__ import main
from inference.asking.models import Model
from inference.asking.one_model import Settings

TOY = ROOT / "tests" / "fixtures" / "toy_page" / "inference" / "protocols" / "toy"
ENTRY = "from helpers.toy_engine import ENTRY\n"
ROOMS = "protocol toy = waver_toy.asking\nengine toy = waver_toy.entry"
ITEMS = "item,text\n1,Dogs are friendly.\n1,I like dogs.\n2,Cats are clever.\n"


@pytest.fixture
def site(tmp_path, monkeypatch):
    site = tmp_path / "site"
    write_package(site, "waver-toy", ROOMS, {"waver_toy/__init__.py": "", "waver_toy/entry.py": ENTRY}, "3.0")
    shutil.copytree(TOY, site / "waver_toy" / "asking", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.syspath_prepend(site)
    caches = (outside_rooms.read_rooms_from_entry_points, engines._import_outside_engine_entries_or_warn)
    for cache in caches:
        cache.cache_clear()
    yield site
    for cache in caches:
        cache.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "waver_toy"]:
        del sys.modules[name]


def test_both_are_listed_with_package_and_version(site, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert (
        "toy" in protocols.list_protocols()
        and "toy" in engines.collect_engine_entries()
        and "toy" not in engines.ENGINES
    )
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "the smallest protocol there is (Toy et al., 2026) (waver-toy 3.0)" in said
    assert "waver_toy.asking" not in sys.modules


@pytest.mark.slow
def test_they_are_asked_and_the_session_names_them(site, tmp_path, capsys):
    (tmp_path / "items.csv").write_text(ITEMS, encoding="utf-8")
    call = ["run", "toy", "--items", str(tmp_path / "items.csv"), "--out", str(tmp_path / "run"),
            "--model", f"m={ROOT}/inference/demo/models/waver-demo-small", "--engine", "toy",
            "--toy-mood", "merry"]  # fmt: skip
    assert main(call) == 0, capsys.readouterr().err
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert record["study"]["protocol"] == "toy" and record["models"]["m"]["engine"] == "toy"
    assert record["sessions"][0]["rooms"] == {"protocol toy": "waver-toy 3.0", "engine toy": "waver-toy 3.0"}
    other = ["run", "agreement", *call[2:5], str(tmp_path / "other"), *call[6:8], "--engine", "toy"]
    assert main(other) == 0, capsys.readouterr().err
    record = json.loads((tmp_path / "other" / "run.json").read_text(encoding="utf-8"))
    assert record["sessions"][0]["rooms"] == {"engine toy": "waver-toy 3.0"}


def test_models_of_another_packages_engine_are_looked_for_by_that_engine_alone(site, monkeypatch):
    def look_up(name: str, revision: str | None) -> None:
        raise NoSuchModel(f"model {name}: no such folder")

    monkeypatch.setattr("inference.engines.loading.find_and_check_config_file", look_up)
    Settings(engine="toy").refuse_missing_model(Model("parrot", "parrot"))
    with pytest.raises(InputError, match="model parrot: no such folder"):
        Settings().refuse_missing_model(Model("parrot", "parrot"))


def test_an_engine_with_a_fault_names_the_package(site, tmp_path, capsys):
    (site / "waver_toy" / "entry.py").write_text(
        "from dataclasses import replace\nfrom helpers.toy_engine import ENTRY\nENTRY = replace(ENTRY, factory='no')\n",
        encoding="utf-8",
    )
    (tmp_path / "items.csv").write_text(ITEMS, encoding="utf-8")
    demo = f"m={ROOT}/inference/demo/models/waver-demo-small"
    assert main(["run", "agreement", "--items", str(tmp_path / "items.csv"), "--out", str(tmp_path / "run"),
                 "--model", demo, "--engine", "toy"]) == 1  # fmt: skip
    assert "engine toy of waver-toy 3.0 failed: AttributeError" in capsys.readouterr().err


def test_the_demo_models_of_a_protocol_are_those_that_it_names(site):
    asking = site / "waver_toy" / "asking" / "__init__.py"
    asking.write_text(
        asking.read_text(encoding="utf-8") + "\nfrom inference.demo import RATERS as DEMO_MODELS\n", encoding="utf-8"
    )
    assert protocols.load_protocol("toy").DEMO_MODELS == demo.RATERS


def test_demo_models_that_are_none_are_refused(site):
    asking = site / "waver_toy" / "asking" / "__init__.py"
    asking.write_text(asking.read_text(encoding="utf-8") + "\nDEMO_MODELS = {'gpt2': 1}\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"DEMO_MODELS of module waver_toy\.asking is not some of inference\.demo\.ALL"
    ):
        protocols.load_protocol("toy")
