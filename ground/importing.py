"""Import large packages whole: after an interrupt in the middle, a process cannot import PyTorch or NumPy again."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from types import ModuleType

from ground.signals import hold_signals_in_block


def import_without_interruption(name: str) -> ModuleType:
    """Import a module; Ctrl-C, and *Interrupt kernel* of a notebook, wait for the end of it.

    Python forgets a module whose import was interrupted, but not what its C code has registered already: the next
    import of PyTorch or NumPy fails, or ends the process: in a notebook, all that the user has computed is lost then.
    """
    if name in sys.modules:
        return import_module(name)
    with hold_signals_in_block(signal.SIGINT):
        return import_module(name)
