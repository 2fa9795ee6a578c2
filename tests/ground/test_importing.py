"""An interrupt waits for the end of an import, and arrives then."""

from __future__ import annotations

import signal
import sys
import threading

import pytest

from ground.importing import import_without_interruption

MODULE = "import signal\nsignal.raise_signal(signal.SIGINT)\nsignal.raise_signal(signal.SIGINT)\nREACHED = True\n"


@pytest.fixture
def interrupted_module(tmp_path, monkeypatch):
    """The name of a module that is interrupted while it is imported."""
    (tmp_path / "interrupted_module.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield "interrupted_module"
    sys.modules.pop("interrupted_module", None)


def test_an_interrupt_waits_for_the_end_of_the_import(interrupted_module):
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        import_without_interruption(interrupted_module)
    assert signal.getsignal(signal.SIGINT) == handler
    assert import_without_interruption(interrupted_module).REACHED


def test_a_module_that_fails_gives_the_handler_back():
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(ModuleNotFoundError):
        import_without_interruption("no_such_module_anywhere")
    assert signal.getsignal(signal.SIGINT) == handler


def test_another_thread_imports_as_ever():
    modules: list[object] = []
    thread = threading.Thread(target=lambda: modules.append(import_without_interruption("json")))
    thread.start()
    thread.join(10)
    assert modules == [sys.modules["json"]]
