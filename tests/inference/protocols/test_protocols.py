"""Protocols are found by scanning their folder: one more is one more folder, and listing them imports none."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from inference import protocols
from inference.__main__ import main


def test_every_protocol_says_in_one_line_what_it_asks():
    assert {"agreement", "choice", "negation", "scoring", "wording"} <= set(protocols.list_protocols())
    for name in protocols.list_protocols():
        said = protocols.read_protocol_summary(name)
        assert said.startswith("Ask ") and re.search(r"\([A-Z].* et al\.[^()]*\)|\(Choi\)", said), name
        assert "\n" not in said and not said.endswith(".")


def test_listing_the_protocols_imports_none_of_them():
    code = (
        "import sys; from inference import protocols; [protocols.read_protocol_summary(name) for name in "
        "protocols.list_protocols()];assert not [name for name in sys.modules if "
        "name.startswith('inference.protocols.')], sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


TOY = '''"""Ask whether the moon is made of cheese (Nobody et al.).

More about it.
"""
NAME = "cheese"
KINDS = ("causal",)


def add_arguments(parser):
    parser.add_argument("--moon", required=True)


def prepare_study(options):
    raise SystemExit(f"asked about {options.moon}")
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    (tmp_path / "cheese").mkdir()
    (tmp_path / "cheese" / "__init__.py").write_text(TOY, encoding="utf-8")
    (tmp_path / "no_protocol.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(protocols, "__path__", [str(tmp_path)])
    yield
    for name in [name for name in sys.modules if name.startswith("inference.protocols.cheese")]:
        del sys.modules[name]


def test_a_new_folder_is_a_new_protocol_of_the_command_line(toy, capsys):
    assert protocols.list_protocols() == ("cheese",)
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    assert "ask whether the moon is made of cheese (Nobody et al.)" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(SystemExit, match="asked about ours"):
        main(["run", "cheese", "--moon", "ours", "--model", "m", "--out", "x"])
